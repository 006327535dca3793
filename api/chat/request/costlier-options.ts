// Refuses options that upstreams bill beside the tokens, or at other prices than the catalogue's.
import { notOffered } from './chat-messages.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Values of `prompt_cache_options.ttl` that OpenAI knows today; a longer life may cost more. */
const ORDINARY_CACHE_LIVES: readonly unknown[] = [undefined, null, '30m'];

/** Values of `prompt_cache_retention` at the price of an ordinary cache write; longer ones cost more. */
const ORDINARY_RETENTIONS: readonly unknown[] = [null, 'in_memory', '30m'];

/**
 * Fields that buy more than the model of the catalogue, whatever their value, with the service that knows
 * them. Every other field is passed on.
 */
const COSTLIER_FIELDS = [
  'web_search_options', // OpenAI, Perplexity: searches, billed by the call
  'search_parameters', // xAI: live search, billed by the source (docs.x.ai, Live Search)
  'enable_search', // Alibaba: searches (DashScope, compatible mode)
  'search_options', // Alibaba: how it searches
  'plugins', // OpenRouter: web search and parsing of PDFs (openrouter.ai/docs/guides/features/plugins)
  'models', // OpenRouter: other models to fall back on (openrouter.ai/docs/features/model-routing)
  'route', // OpenRouter: the same
  'provider', // OpenRouter: other providers of the model, at their prices (…/features/provider-routing)
  'preset', // OpenRouter: a stored configuration that may name another model (…/features/presets)
  'data_sources', // Azure OpenAI: searches in data of the operator (On Your Data)
  'audio', // OpenAI: spoken answers
  'prediction', // OpenAI: what of it is not in the answer is billed as answer, beyond any limit
  'best_of', // vLLM: answers that are written, and not returned
  'chat_template', // vLLM, SGLang: a program that writes the prompt, of any length
  'mm_processor_kwargs', // vLLM, SGLang: in how many tokens a picture is cut
  'vl_high_resolution_images', // Alibaba: pictures of up to 16,384 tokens (DashScope, compatible mode)
] as const;

/** Kinds of tools that the caller runs. Tools of other kinds are run, and billed, by the vendor. */
const CALLERS_TOOLS: readonly unknown[] = [undefined, 'function', 'custom'];

/** Throws a GatewayError that names the field. */
export function rejectCostlierOptions(request: Fields): void {
  const { service_tier: tier, modalities, prompt_cache_retention: retention, tools } = request;
  const field = COSTLIER_FIELDS.find((name) => isSet(request[name]));
  if (field) throw notOffered(field);
  if (tier === 'priority' || tier === 'scale') throw notOffered('service_tier');
  if (!ORDINARY_RETENTIONS.includes(retention ?? null)) throw notOffered('prompt_cache_retention');
  if (!ORDINARY_CACHE_LIVES.includes(memberOf(request['prompt_cache_options'], 'ttl')))
    throw notOffered('prompt_cache_options');
  if (Array.isArray(modalities) && modalities.includes('audio')) throw notOffered('modalities');
  const types = Array.isArray(tools) ? tools.map((each) => memberOf(each, 'type')) : [];
  const index = types.findIndex((type) => !CALLERS_TOOLS.includes(type));
  const type = types[index];
  if (index >= 0) throw notOffered(`tools[${index}].type`, typeof type === 'string' ? type : undefined);
}

/** Whether a field asks for something: null and false do not. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

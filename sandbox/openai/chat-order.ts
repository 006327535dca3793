// Checks a chat request: ignores unknown fields, and refuses wrong values of known ones as OpenAI does.

import { type Fields, isFields, refuse } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import { type AnswerForm, checkForm } from './chat-form.ts';
import { checkMessages, type PromptTokens } from './chat-messages.ts';
import { checkKind, numberIn, oneOf, refuseField, requireText } from './fields.ts';

/** The models that GET /v1/models lists. */
export const MODELS = ['gpt-6-luna', 'gpt-6-sol', 'gpt-6-astra', 'gpt-6.1-sol', 'gpt-6.1-terra'] as const;

export interface ChatOrder {
  readonly model: string;
  readonly promptTokens: PromptTokens;
  readonly choices: number;
  /** Largest number of tokens of each choice. */
  readonly tokensMax: number;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly includeObfuscation: boolean;
  readonly form: AnswerForm;
  /** Alternatives of each token that are told with its log probability; null where neither is. */
  readonly logprobs: number | null;
  readonly serviceTier: string;
  readonly cacheKey: string | null;
}

const CHOICES_MAX = 128;
const TOKENS_MAX = 2 ** 31;
const STOPS_MAX = 4;

const BOOLEANS = ['stream', 'store', 'logprobs', 'parallel_tool_calls'];
const STRINGS = ['user', 'safety_identifier', 'prompt_cache_key'];
const OBJECTS = ['stream_options', 'metadata', 'logit_bias', 'web_search_options'];
const DECIMALS = {
  temperature: { min: 0, max: 2 },
  top_p: { min: 0, max: 1 },
  presence_penalty: { min: -2, max: 2 },
  frequency_penalty: { min: -2, max: 2 },
};
const ENUMS = {
  reasoning_effort: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
  verbosity: ['low', 'medium', 'high'],
};
const TIERS = ['auto', 'default', 'flex', 'scale', 'priority'] as const;

export function checkChatOrder(request: SandboxRequest, fields: Fields): ChatOrder {
  const model = checkModel(request, requireText(request, 'model', fields['model']));
  const promptTokens = checkMessages(request, fields);
  checkSettings(request, fields);
  const tier = oneOf(request, 'service_tier', fields['service_tier'], TIERS) ?? 'auto';
  const { prompt_cache_key: cacheKey } = fields;
  return {
    model,
    promptTokens,
    choices: numberIn(request, fields, 'n', { min: 1, max: CHOICES_MAX, kind: 'integer' }) ?? 1,
    tokensMax: tokensMaxOf(request, fields),
    stream: fields['stream'] === true,
    ...checkStreamOptions(request, fields),
    form: checkForm(request, fields),
    logprobs: logprobsOf(request, fields),
    serviceTier: tier === 'auto' ? 'default' : tier,
    cacheKey: typeof cacheKey === 'string' && cacheKey !== '' ? cacheKey : null,
  };
}

/** Accepts every model named gpt-… or grok-…, except one whose name contains `retired`. */
export function checkModel(request: SandboxRequest, model: string): string {
  if (/^(gpt|grok)-[\w.-]+$/.test(model) && !model.includes('retired')) return model;
  const message = `The model \`${model}\` does not exist or you do not have access to it.`;
  return refuse(request, 404, { message, field: 'model', code: 'model_not_found' });
}

function checkSettings(request: SandboxRequest, fields: Fields): void {
  for (const field of BOOLEANS) checkKind(request, fields, field, 'boolean');
  for (const field of STRINGS) checkKind(request, fields, field, 'string');
  for (const field of OBJECTS) checkKind(request, fields, field, 'object');
  for (const [field, range] of Object.entries(DECIMALS)) {
    numberIn(request, fields, field, { ...range, kind: 'decimal' });
  }
  for (const [field, values] of Object.entries(ENUMS)) oneOf(request, field, fields[field], values);
  const { stop } = fields;
  if (Array.isArray(stop) && stop.length > STOPS_MAX) {
    const message = `Invalid 'stop': array too long. Expected an array with maximum length ${STOPS_MAX}.`;
    refuseField(request, 'stop', message, 'array_above_max_length');
  }
}

function logprobsOf(request: SandboxRequest, fields: Fields): number | null {
  const alternatives = numberIn(request, fields, 'top_logprobs', { min: 0, max: 20, kind: 'integer' });
  return fields['logprobs'] === true ? (alternatives ?? 0) : null;
}

function tokensMaxOf(request: SandboxRequest, fields: Fields): number {
  const range = { min: 1, max: TOKENS_MAX, kind: 'integer' } as const;
  const maxTokens = numberIn(request, fields, 'max_tokens', range);
  const maxCompletionTokens = numberIn(request, fields, 'max_completion_tokens', range);
  if (maxTokens !== null && maxCompletionTokens !== null) {
    const message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
    refuseField(request, 'max_tokens', message, 'invalid_parameter_combination');
  }
  return maxCompletionTokens ?? maxTokens ?? TOKENS_MAX;
}

function checkStreamOptions(
  request: SandboxRequest,
  { stream, stream_options: options }: Fields,
): Pick<ChatOrder, 'includeUsage' | 'includeObfuscation'> {
  if (!isFields(options)) return { includeUsage: false, includeObfuscation: false };
  if (stream !== true) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    refuseField(request, 'stream_options', message);
  }
  for (const name of ['include_usage', 'include_obfuscation']) {
    checkKind(request, { [`stream_options.${name}`]: options[name] }, `stream_options.${name}`, 'boolean');
  }
  return {
    includeUsage: options['include_usage'] === true,
    includeObfuscation: options['include_obfuscation'] === true,
  };
}

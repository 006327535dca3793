// Collects from a request of chat completions or Responses what a model reads: texts, pictures, files.
//
// Vendors know fields that we do not. So a member counts as text, with its name, whatever it is, unless it is
// listed here as one that no model reads.
import { membersOf } from '../http/json-fields.ts';
import { readPromptImage, type PromptImage } from './image-tokens.ts';

export interface Prompt {
  texts: string[];
  messages: number;
  /** Where two parts of a message meet: some vendors put a line break there. */
  joints: number;
  images: PromptImage[];
  /** Number of parts that are neither a text nor a picture, such as files, which are not read. */
  files: number;
}

/** Fields of a message that models read as text, whatever is in them: no picture and no file. */
export const TEXT_FIELDS: readonly string[] = ['tool_calls', 'function_call', 'annotations'];

/** Members that are read by their values alone: a text as it is, anything else as its JSON. */
const UNNAMED = new Set([
  ...TEXT_FIELDS,
  ...['content', 'text', 'refusal', 'name', 'tool_call_id', 'reasoning_content', 'reasoning'],
  ...['tools', 'functions', 'response_format', 'tool_choice'],
  ...['instructions', 'input', 'output', 'arguments', 'call_id', 'encrypted_content', 'summary'],
]);
/** Fields beside the messages that steer a vendor and that no model reads. */
const SETTINGS = new Set([
  ...['model', 'n', 'max_tokens', 'max_completion_tokens', 'max_output_tokens', 'stop', 'seed', 'stream'],
  ...['stream_options', 'temperature', 'top_p', 'top_k', 'min_p', 'presence_penalty', 'frequency_penalty'],
  ...['logit_bias', 'logprobs', 'top_logprobs', 'parallel_tool_calls', 'reasoning_effort', 'reasoning'],
  ...['verbosity', 'modalities', 'service_tier', 'store', 'metadata', 'user', 'safety_identifier'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'include', 'truncation'],
]);
/** OpenAI takes 16 pairs of 64 and 512 characters as metadata; a longer setting counts as any other field. */
const SETTING_CHARACTERS_MAX = 10_000;

/** Members whose words belong to the form of a message, which is counted by itself. */
const FORM = new Set(['role', 'type', 'detail', 'status']);
const FORM_WORDS: ReadonlySet<unknown> = new Set([
  ...['system', 'developer', 'user', 'assistant', 'tool', 'function', 'message', 'reasoning'],
  ...['function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'],
  ...['image_url', 'input_image', 'low', 'high', 'auto', 'original'],
  ...['in_progress', 'completed', 'incomplete'],
]);
const TEXT_PARTS: ReadonlySet<unknown> = new Set([
  ...['text', 'refusal', 'input_text', 'output_text', 'summary_text', 'reasoning_text'],
]);
const IMAGE_PARTS: ReadonlySet<unknown> = new Set(['image_url', 'input_image']);

export function readPrompt(request: Readonly<Record<string, unknown>>): Prompt {
  const prompt: Prompt = { texts: [], messages: 0, joints: 0, images: [], files: 0 };
  collect(request, prompt, (name, value) => {
    if ((name === 'messages' || name === 'input') && Array.isArray(value))
      for (const message of value) collectMessage(message, prompt);
    else return isSetting(name, value);
    return true;
  });
  return prompt;
}

function isSetting(name: string, value: unknown): boolean {
  return SETTINGS.has(name) && (JSON.stringify(value) ?? '').length <= SETTING_CHARACTERS_MAX;
}

/** A message, or an item of Responses. */
function collectMessage(message: unknown, prompt: Prompt): void {
  prompt.messages += 1;
  collect(message, prompt, (name, member) => {
    const isList = (name === 'content' || name === 'output') && Array.isArray(member);
    if (isList) collectParts(member, prompt);
    return isList;
  });
}

function collectParts(parts: readonly unknown[], prompt: Prompt): void {
  prompt.joints += Math.max(0, parts.length - 1);
  for (const part of parts) {
    const { type, detail } = membersOf(part);
    if (!TEXT_PARTS.has(type) && !IMAGE_PARTS.has(type)) prompt.files += 1;
    collect(part, prompt, (name, member) => {
      if (name === 'image_url')
        collectImage(typeof member === 'string' ? { url: member, detail } : member, prompt);
      return name === 'image_url';
    });
  }
}

/** A picture as an object with `url` and `detail`. */
function collectImage(image: unknown, prompt: Prompt): void {
  const { url, detail } = membersOf(image);
  prompt.images.push(
    readPromptImage(typeof url === 'string' ? url : '', typeof detail === 'string' ? detail : ''),
  );
  collect(image, prompt, (name, member) => name === 'url' && typeof member === 'string');
}

/** Adds the members of an object, except those that `isDone` says it has counted, or that count nothing. */
function collect(value: unknown, prompt: Prompt, isDone: (name: string, member: unknown) => boolean): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    if (value !== undefined) prompt.texts.push(JSON.stringify(value));
    return;
  }
  const others: Record<string, unknown> = Object.create(null);
  let hasOthers = false;
  for (const name in value) {
    const member: unknown = Reflect.get(value, name);
    if (member === undefined || isDone(name, member) || isForm(name, member)) continue;
    if (UNNAMED.has(name)) collectText(member, prompt);
    else {
      others[name] = member;
      hasOthers = true;
    }
  }
  if (hasOthers) prompt.texts.push(JSON.stringify(others));
}

function isForm(name: string, member: unknown): boolean {
  return FORM.has(name) && (member === null || FORM_WORDS.has(member) || TEXT_PARTS.has(member));
}

/** Adds a text as it is, anything else as its JSON, and nothing for null, which stands for what is absent. */
function collectText(value: unknown, prompt: Prompt): void {
  if (typeof value === 'string') prompt.texts.push(value);
  else if (value !== null) prompt.texts.push(JSON.stringify(value));
}

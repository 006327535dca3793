// Collects from a chat request what the model reads: texts, pictures, files.
import { membersOf } from '../http/json-fields.ts';
import { readPromptImage, type PromptImage } from './image-tokens.ts';

export interface Prompt {
  texts: string[];
  messages: number;
  images: PromptImage[];
  /** Number of files, which are not read. */
  files: number;
}

/** Fields of a message that models read as text, whatever is in them: no picture and no file. */
export const TEXT_FIELDS: readonly string[] = ['tool_calls', 'function_call', 'annotations'];
/** Fields beside the messages that become part of the prompt. */
const FIELDS = ['tools', 'functions', 'response_format', 'prediction', 'tool_choice', 'function_call'];

export function readPrompt(request: Readonly<Record<string, unknown>>): Prompt {
  const prompt: Prompt = { texts: [], messages: 0, images: [], files: 0 };
  for (const name of FIELDS) collectJson(request[name], prompt);
  const messages = Array.isArray(request['messages']) ? request['messages'] : [];
  for (const message of messages) {
    prompt.messages += 1;
    for (const [name, member] of Object.entries(membersOf(message)))
      if (TEXT_FIELDS.includes(name)) collectJson(member, prompt);
      else collectMember(name, member, prompt);
  }
  return prompt;
}

/** Adds the text that the value is in JSON; null, which clients send for what is absent, adds none. */
function collectJson(value: unknown, prompt: Prompt): void {
  if (value !== undefined && value !== null) prompt.texts.push(JSON.stringify(value));
}

function collect(value: unknown, prompt: Prompt): void {
  if (typeof value === 'string') prompt.texts.push(value);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) collectMember(name, member, prompt);
}

function collectMember(name: string, member: unknown, prompt: Prompt): void {
  if (name === 'image_url') prompt.images.push(readImage(member));
  else if (name === 'file') prompt.files += 1;
  // Roles and the types of parts count as part of their message.
  else if (name !== 'role' && name !== 'type') collect(member, prompt);
}

/** A picture as an object with `url` and `detail`, or as its URL alone. */
function readImage(image: unknown): PromptImage {
  const { url = image, detail }: { url?: unknown; detail?: unknown } =
    typeof image === 'object' && image !== null ? image : {};
  return readPromptImage(typeof url === 'string' ? url : '', typeof detail === 'string' ? detail : '');
}

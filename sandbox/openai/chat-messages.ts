// Checks the messages of a chat as OpenAI would and counts their tokens.

import { type Fields, isFields, objectsIn } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import { isAbsent, oneOf, refuseField, refuseAbsent, refuseType, requireText } from './fields.ts';

export interface PromptTokens {
  readonly text: number;
  readonly image: number;
}

const SPACE = 0x20;

type Role = (typeof ROLES)[number];

const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer'] as const;

/** Types of content parts by role. */
const PARTS: Readonly<Record<Role, readonly string[]>> = {
  system: ['text'],
  developer: ['text'],
  user: ['text', 'image_url', 'input_audio', 'file'],
  assistant: ['text', 'refusal'],
  tool: ['text'],
  function: ['text'],
};
const TOKENS_PER_IMAGE = 85;

/** Text of the last user message, which holds the directives; empty without one. Refuses nothing. */
export function readLastUserText(messages: unknown): string {
  const last = objectsIn(messages).findLast((message) => message['role'] === 'user')?.['content'];
  if (typeof last === 'string') return last;
  return textsOf(last).join('\n');
}

/** Counts a word between white space as one token, an image as TOKENS_PER_IMAGE. */
export function checkMessages(request: SandboxRequest, { messages }: Fields): PromptTokens {
  if (isAbsent(messages)) refuseAbsent(request, 'messages');
  if (!Array.isArray(messages)) refuseType(request, 'messages', 'an array of objects', messages);
  if (messages.length === 0) {
    const message = "Invalid 'messages': empty array. Expected an array with minimum length 1.";
    refuseField(request, 'messages', message, 'empty_array');
  }
  for (const [index, message] of messages.entries()) checkMessage(request, `messages[${index}]`, message);
  const texts = objectsIn(messages).flatMap(({ content }) =>
    typeof content === 'string' ? [content] : textsOf(content),
  );
  const images = objectsIn(messages).flatMap(({ content }) =>
    objectsIn(content).filter(({ type }) => type === 'image_url'),
  );
  const words = texts.reduce((sum, text) => sum + countWords(text), 0);
  return { text: Math.max(1, words), image: images.length * TOKENS_PER_IMAGE };
}

function checkMessage(request: SandboxRequest, field: string, message: unknown): void {
  if (!isFields(message)) refuseType(request, field, 'an object', message);
  const role =
    oneOf(request, `${field}.role`, message['role'], ROLES) ?? refuseAbsent(request, `${field}.role`);
  if (role === 'tool') requireText(request, `${field}.tool_call_id`, message['tool_call_id']);
  checkContent(request, `${field}.content`, message, role);
}

function checkContent(
  request: SandboxRequest,
  field: string,
  { content, tool_calls: calls }: Fields,
  role: Role,
): void {
  if (typeof content === 'string') return;
  if (isAbsent(content)) {
    if (role === 'assistant' && Array.isArray(calls)) return;
    refuseField(
      request,
      field,
      `Invalid value for '${field}': expected a string, got null.`,
      'invalid_value',
    );
  }
  if (!Array.isArray(content)) refuseType(request, field, 'a string or an array of objects', content);
  for (const [index, part] of content.entries()) checkPart(request, `${field}[${index}]`, part, role);
}

function checkPart(request: SandboxRequest, field: string, part: unknown, role: Role): void {
  if (!isFields(part)) refuseType(request, field, 'an object', part);
  const type =
    oneOf(request, `${field}.type`, part['type'], PARTS[role]) ?? refuseAbsent(request, `${field}.type`);
  if (type === 'text') requireText(request, `${field}.text`, part['text']);
  if (type === 'image_url') checkImage(request, `${field}.image_url`, part['image_url']);
}

function checkImage(request: SandboxRequest, field: string, image: unknown): void {
  if (isAbsent(image)) refuseAbsent(request, field);
  if (!isFields(image)) refuseType(request, field, 'an object', image);
  const url = requireText(request, `${field}.url`, image['url']);
  if (!/^(https:\/\/|data:image\/(png|jpeg|webp|gif);base64,)\S+$/.test(url)) {
    const message = 'Invalid image URL: it must be an https URL, or a data URI of a PNG, JPEG, WebP or GIF.';
    refuseField(request, `${field}.url`, message, 'invalid_image_url');
  }
  oneOf(request, `${field}.detail`, image['detail'], ['auto', 'low', 'high']);
}

function textsOf(content: unknown): string[] {
  return objectsIn(content)
    .map(({ text }) => text)
    .filter((text) => typeof text === 'string');
}

/** Words between white space of ASCII; none of them is built, which would take long for a megabyte. */
function countWords(text: string): number {
  const bytes = Buffer.from(text);
  let words = 0;
  let isWord = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const continues = (bytes[at] ?? 0) > SPACE;
    if (continues && !isWord) words += 1;
    isWord = continues;
  }
  return words;
}

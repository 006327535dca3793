// Tolerant readers of vendors' JSON: absent members and members of another type both read as empty or null.

import { storableText } from '../../domain/storable-text.ts';

export type Members = Readonly<Record<string, unknown>>;

/** The members of a JSON object; an empty object for anything else. */
export function membersOf(value: unknown): Members {
  return isObject(value) ? value : {};
}

/** The items of a JSON array; an empty array for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text that is not empty, or null; vendors' texts are made storable here, where they come in. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? storableText(value) : null;
}

/** A finite number, or null. Numbers written as texts are not numbers. */
export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Bytes in base64, or null. Buffer would skip foreign characters, and a file with holes is worthless. */
export function bytesOf(value: unknown): Buffer | null {
  const text = textOf(value);
  return text !== null && /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : null;
}

/** An error body. `code` and `type` are in lower case, so that they can be compared. */
export interface VendorError {
  code: string | null;
  /** Some vendors call it `status` or `reason`. */
  type: string | null;
  message: string | null;
}

/**
 * Reads the shapes in use: `{error:{message,type,code}}`, `{code,error:"text"}` and `{error:"text"}` (also
 * `{code,message}` and `{detail}`), each also as the one item of a list, as Google's compatible API has it.
 * Answers null where the body holds no error at all.
 */
export function readVendorError(json: unknown): VendorError | null {
  const body = membersOf(Array.isArray(json) ? json[0] : json);
  const inner = isObject(body['error']) ? body['error'] : body;
  const message = textOf(inner['message']) ?? textOf(inner['error']) ?? textOf(inner['detail']);
  const code = wordOf(inner['code']);
  if (message === null && code === null) return null;
  return { code, type: wordOf(inner['type'] ?? inner['status'] ?? inner['reason']), message };
}

function wordOf(value: unknown): string | null {
  const word = typeof value === 'number' ? String(value) : textOf(value);
  return word === null ? null : word.toLowerCase();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

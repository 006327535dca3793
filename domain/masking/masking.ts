// Masks what readers see of a request and of a vendor's error, so that it contains no secret. The prompt that
// its owner sees does not pass through here; callers keep it apart.

import type { JsonValue } from '../json.ts';
import { maskErrorText, shorten } from './error-text.ts';
import { cutLong, looksLikeJson } from './length.ts';
import { foldName, hidesValue } from './names.ts';
import { maskPayloadText } from './text.ts';
import { decodedView, MARKER_SOURCE, visibleView } from './views.ts';

export { maskErrorText } from './error-text.ts';
export { maskText } from './text.ts';

const DEPTH_MAX = 32;
const NODES_MAX = 10_000;
/**
 * Of all texts of a payload together. Beyond it, only texts of up to `SHORT_TEXT_LENGTH_MAX` are masked and
 * kept.
 */
const CHARACTERS_MAX = 65_536;
const SHORT_TEXT_LENGTH_MAX = 100;
/** A longer key is no name, and its value is hidden. */
const NAME_LENGTH_MAX = 4_096;
const NESTED_STRINGS_MAX = 3;
const MESSAGE_LENGTH_MAX = 500;
const QUOTE_LENGTH_MIN = 20;
const MASKED = '[masked]';
const TOO_DEEP = '[masked:too-deep]';
const TOO_LARGE = '[masked:too-large]';

/**
 * Makes a masked copy of a request's payload: markers replace secret keys, URLs, data URIs, encoded runs and
 * tokens, also inside longer text, in keys, and in JSON carried as a string. Of a long text the beginning is
 * kept (`MASKED_TEXT_LENGTH_MAX`), and of many long texts the first ones (`CHARACTERS_MAX`). The payload is
 * not changed. Never throws; masking the result again changes nothing.
 */
export function maskPayload(payload: JsonValue): JsonValue {
  return maskValue(payload, 1, startWalk(0));
}

/**
 * Joins our sentence with what is left of the vendor's text after masking, at most 500 characters together.
 */
export function composeErrorMessage(sentence: string, upstreamText: string | null): string {
  const masked = upstreamText === null ? '' : maskErrorText(upstreamText);
  const lettersLeft = masked.replace(new RegExp(MARKER_SOURCE, 'g'), '').replace(/[^\p{L}\p{N}]/gu, '');
  const room = MESSAGE_LENGTH_MAX - sentence.length - ' Provider says: ""'.length;
  if (lettersLeft === '' || room < QUOTE_LENGTH_MIN) return shorten(sentence, MESSAGE_LENGTH_MAX);
  return `${sentence} Provider says: "${shorten(masked, room)}"`;
}

interface Walk {
  nodesLeft: number;
  charactersLeft: number;
  /** How many strings of JSON surround this value. */
  stringsAround: number;
  changed: boolean;
}

function startWalk(stringsAround: number): Walk {
  return { nodesLeft: NODES_MAX, charactersLeft: CHARACTERS_MAX, stringsAround, changed: false };
}

function maskValue(value: JsonValue, depth: number, walk: Walk): JsonValue {
  walk.nodesLeft -= 1;
  const masked = maskedCopy(value, depth, walk);
  if (typeof masked !== 'object' && masked !== value) walk.changed = true;
  return masked;
}

function maskedCopy(value: JsonValue, depth: number, walk: Walk): JsonValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
  if (typeof value === 'string') return maskString(value, walk);
  if (typeof value !== 'object') return MASKED; // not JSON, whatever the types say
  if (depth > DEPTH_MAX) return TOO_DEEP;
  return Array.isArray(value) ? maskArray(value, depth, walk) : maskObject(value, depth, walk);
}

function maskArray(items: JsonValue[], depth: number, walk: Walk): JsonValue[] {
  const masked: JsonValue[] = [];
  for (const item of items) {
    if (walk.nodesLeft <= 0) {
      walk.changed = true;
      masked.push(TOO_LARGE);
      break;
    }
    masked.push(maskValue(item, depth + 1, walk));
  }
  return masked;
}

function maskObject(object: { [key: string]: JsonValue }, depth: number, walk: Walk): JsonValue {
  const masked = new Map<string, JsonValue>();
  const numbers = new Map<string, number>();
  for (const [key, value] of Object.entries(object)) {
    if (walk.nodesLeft <= 0) {
      walk.changed = true;
      masked.set(TOO_LARGE, TOO_LARGE);
      break;
    }
    const shownKey = unusedKey(maskCounted(key, walk), masked, numbers);
    if (shownKey !== key) walk.changed = true;
    masked.set(shownKey, maskUnderKey(key, value, depth, walk));
  }
  // Not by assignment, because a key named __proto__ has to stay a key.
  return Object.fromEntries(masked);
}

function maskUnderKey(key: string, value: JsonValue, depth: number, walk: Walk): JsonValue {
  const isHarmless =
    key.length <= NAME_LENGTH_MAX && !hidesValue(foldName(decodedView(visibleView(key)).text), value);
  if (isHarmless) return maskValue(value, depth + 1, walk);
  walk.nodesLeft -= 1;
  if (value !== MASKED) walk.changed = true;
  return MASKED;
}

/** Two keys can mask to the same marker; the later ones are numbered so that no value is lost. */
function unusedKey(key: string, taken: ReadonlyMap<string, JsonValue>, numbers: Map<string, number>): string {
  let candidate = key;
  for (let number = numbers.get(key) ?? 2; taken.has(candidate); number += 1) {
    candidate = `${key} ${number}`;
    numbers.set(key, number + 1);
  }
  return candidate;
}

function maskString(text: string, walk: Walk): string {
  return maskCounted(text, walk, (round) => maskJsonInString(round, walk.stringsAround));
}

/**
 * Masks a text and counts its characters; a text that comes after `CHARACTERS_MAX` and is not short is
 * dropped.
 */
function maskCounted(text: string, walk: Walk, prepare?: (text: string) => string): string {
  const cut = cutLong(text);
  const isLate = walk.charactersLeft <= 0;
  if (isLate && cut.length > SHORT_TEXT_LENGTH_MAX) return TOO_LARGE;
  const masked = maskPayloadText(cut, prepare);
  walk.charactersLeft -= Math.max(cut.length, masked.length);
  return isLate && masked.length > SHORT_TEXT_LENGTH_MAX ? TOO_LARGE : masked;
}

/** Masks the value of a string that is itself JSON; any other string is returned unchanged. */
function maskJsonInString(text: string, stringsAround: number): string {
  if (!looksLikeJson(text)) return text;
  let parsed: JsonValue;
  try {
    parsed = JSON.parse(text);
  } catch {
    return text;
  }
  if (stringsAround >= NESTED_STRINGS_MAX) return TOO_DEEP;
  const walk = startWalk(stringsAround + 1);
  const masked = maskValue(parsed, 1, walk);
  return walk.changed ? JSON.stringify(masked) : text;
}

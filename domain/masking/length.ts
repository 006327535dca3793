// How much of a text is masked: masking takes time for every character, and readers need the beginning.

import { leadingDataUri } from './links.ts';
import { MARKER_SOURCE } from './views.ts';

/** In UTF-16 code units. What a longer text has beyond it is replaced by `[masked:rest N]` before masking. */
export const MASKED_TEXT_LENGTH_MAX = 65_536;

const REST_LENGTH_MAX = 40;
const MARKER_LENGTH_MAX = 80;
const MARKER = new RegExp(MARKER_SOURCE, 'g');
/** What ends a run of base64. */
const FOREIGN_CHARACTER = /[^A-Za-z0-9+/_-]/g;
/** Characters that must all be of one kind before a whole long text is tested for that kind. */
const BEGINNING_LENGTH = 1_000;

/**
 * Cuts a text to `MASKED_TEXT_LENGTH_MAX`; masking comes afterwards. A data URI or a run of base64 at its
 * beginning is replaced by a marker, whatever its length; of what follows, the beginning is kept. Takes
 * milliseconds for 32 MB.
 */
export function cutLong(text: string): string {
  const named = nameBeginning(text);
  if (named.length <= MASKED_TEXT_LENGTH_MAX) return named;
  // Cut in two it could no longer be parsed, and values under secret names would be missed.
  if (looksLikeJson(named)) return '[masked:too-large]';
  const kept = cutAtWhiteSpace(named, MASKED_TEXT_LENGTH_MAX - REST_LENGTH_MAX);
  return `${kept} [masked:rest ${named.length - kept.length}]`.trimStart();
}

/** Drops the whole word in which the limit falls, so that no secret is cut in two and missed. */
export function cutAtWhiteSpace(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  let end = lengthMax;
  const from = Math.max(0, end - MARKER_LENGTH_MAX);
  for (const marker of text.slice(from, end + MARKER_LENGTH_MAX).matchAll(MARKER)) {
    const start = from + marker.index; // markers hold white space, too
    if (start < lengthMax && start + marker[0].length > lengthMax) end = start;
  }
  while (end > 0 && !/\s/.test(text.charAt(end))) end -= 1;
  return text.slice(0, end);
}

/** Looks at both ends only, which saves parsing prose. */
export function looksLikeJson(text: string): boolean {
  return /^\s{0,50}[[{"]/.test(text.slice(0, 51)) && /[\]}"]$/.test(text.slice(-50).trimEnd());
}

function nameBeginning(text: string): string {
  if (text.length < BEGINNING_LENGTH) return text;
  const uri = leadingDataUri(text);
  if (uri) return `${uri.marker}${text.slice(uri.end)}`;
  if (text.length <= MASKED_TEXT_LENGTH_MAX) return text;
  const run = lengthOfEncodedRun(text);
  return run === 0 ? text : `[masked:base64 ${run}]${text.slice(run)}`;
}

/**
 * The length of the base64 that a text begins with; 0 if it fits into what is masked, or is mostly dashes.
 */
function lengthOfEncodedRun(text: string): number {
  if (!/^[A-Za-z0-9+/_-]+$/.test(text.slice(0, BEGINNING_LENGTH))) return 0;
  FOREIGN_CHARACTER.lastIndex = 0;
  const end = FOREIGN_CHARACTER.exec(text)?.index ?? text.length;
  if (end <= MASKED_TEXT_LENGTH_MAX || isMostlySigns(text.slice(0, MASKED_TEXT_LENGTH_MAX))) return 0;
  return end + (/^={0,2}/.exec(text.slice(end, end + 2))?.[0].length ?? 0);
}

function isMostlySigns(text: string): boolean {
  return text.replace(/[+/_-]+/g, '').length * 2 < text.length;
}

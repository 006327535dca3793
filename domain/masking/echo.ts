// Removes what a vendor repeats of the caller's own prompt, so that the prompt stays where it is encrypted.

import { cutAtWhiteSpace } from './length.ts';

/** Shorter repetitions are ordinary words and stay. */
const ECHO_CHARACTERS_MIN = 12;
/** Longer texts of vendors lose their end. */
const TEXT_LENGTH_MAX = 65_536;
const HASH_FACTOR = 16_777_619;
const FILTER_MASK = 0xffff;
const EVERY_HASH = new Uint32Array(FILTER_MASK + 1).fill(1);
/** Runs of fewer characters stand in too many texts; those of more are looked for at more places. */
const RUN_LENGTH = 4;

/**
 * The text with every stretch that also stands in the prompt (12 characters or more, whatever the case)
 * replaced by "[prompt]". A prompt shorter than that is replaced where it stands whole. Takes time linear in
 * both lengths; for a prompt of a megabyte and a text of thousands of characters a few milliseconds. A text
 * of more than 65,536 characters loses its end.
 */
export function withoutEcho(whole: string, prompt: string): string {
  const text = cutAtWhiteSpace(whole, TEXT_LENGTH_MAX);
  const pieceLength = Math.min(ECHO_CHARACTERS_MIN, prompt.length);
  if (pieceLength < 3) return text;
  const lowerText = lowerCase(text);
  const pieces = piecesOfBoth(lowerText, lowerCase(prompt), pieceLength);
  if (pieces.size === 0) return text;

  let kept = '';
  let echoEnd = 0;
  for (let position = 0; position < text.length; position += 1) {
    if (pieces.has(lowerText.slice(position, position + pieceLength))) {
      if (position >= echoEnd) kept += '[prompt]';
      echoEnd = position + pieceLength;
    }
    if (position >= echoEnd) kept += text.charAt(position);
  }
  return kept;
}

/** The text in lower case, each letter at its place: only the dotted capital I would become two. */
function lowerCase(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase();
}

/**
 * The pieces of this length that stand in both. Those of the text, which is short, are looked up by the
 * rolling hash (Rabin and Karp) of the prompt's, of which few are ever built; each is looked for once.
 */
function piecesOfBoth(text: string, prompt: string, length: number): Set<string> {
  const wanted = new Map<number, Set<string>>();
  /** How many wanted hashes end in these bits: most of the prompt is passed over by it. */
  const filter = new Uint32Array(FILTER_MASK + 1);
  const count = (hash: number, change: number): void => {
    filter[hash & FILTER_MASK] = (filter[hash & FILTER_MASK] ?? 0) + change;
  };
  rollHashes(text, length, EVERY_HASH, (hash, start) => {
    const same = wanted.get(hash) ?? new Set();
    if (same.size === 0) count(hash, 1);
    wanted.set(hash, same.add(text.slice(start, start + length)));
  });
  const found = new Set<string>();
  for (const stretch of alikeStretches(text, prompt, length))
    rollHashes(stretch, length, filter, (hash, start) => {
      const piece = stretch.slice(start, start + length);
      const same = wanted.get(hash);
      if (!same?.delete(piece)) return;
      found.add(piece);
      if (same.size > 0) return;
      wanted.delete(hash);
      count(hash, -1);
    });
  return found;
}

/**
 * The stretches of the prompt in which a piece of the text may stand: around short runs that are also in the
 * text. One run of each possible piece is looked at, so that most of a long prompt is passed over.
 */
function* alikeStretches(text: string, prompt: string, length: number): Generator<string> {
  const runs = new Uint8Array(FILTER_MASK + 1);
  for (let at = 0; at <= text.length - RUN_LENGTH; at += 1) runs[hashRun(text, at)] = 1;
  const reach = Math.max(0, length - RUN_LENGTH);
  let start = 0;
  let end = 0;
  for (let at = 0; at < prompt.length; at += reach + 1) {
    if (at + RUN_LENGTH <= prompt.length && runs[hashRun(prompt, at)] === 0) continue;
    if (at - reach > end) {
      if (end > start) yield prompt.slice(start, end);
      start = at - reach;
    }
    end = at + length;
  }
  if (end > start) yield prompt.slice(start, end);
}

/** A hash of the run that begins here, as an index below the filter's length. */
function hashRun(text: string, at: number): number {
  let hash = 0;
  for (let end = at; end < at + RUN_LENGTH; end += 1)
    hash = (Math.imul(hash, HASH_FACTOR) + text.charCodeAt(end)) | 0;
  return (hash ^ (hash >>> 16)) & FILTER_MASK;
}

/** Calls `visit` with the hash of each stretch of this length that the filter has an entry for. */
function rollHashes(
  text: string,
  length: number,
  filter: Uint32Array,
  visit: (hash: number, start: number) => void,
): void {
  let factorOfFirst = 1;
  for (let power = 1; power < length; power += 1) factorOfFirst = Math.imul(factorOfFirst, HASH_FACTOR);
  let hash = 0;
  for (let end = 0; end < text.length; end += 1) {
    const start = end - length + 1;
    if (start > 0) hash = (hash - Math.imul(text.charCodeAt(start - 1), factorOfFirst)) | 0;
    hash = (Math.imul(hash, HASH_FACTOR) + text.charCodeAt(end)) | 0;
    // Asked here and not by `visit`, since a call for each character of a megabyte takes ten milliseconds.
    if (filter[hash & FILTER_MASK] !== 0 && start >= 0) visit(hash, start);
  }
}

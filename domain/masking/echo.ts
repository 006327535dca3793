// Removes what a vendor repeats of the caller's own prompt, so that the prompt stays where it is encrypted.

import { cutAtWhiteSpace } from './length.ts';

/** Shorter repetitions are ordinary words and stay. */
const ECHO_CHARACTERS_MIN = 12;
/** Longer texts of vendors lose their end. */
const TEXT_LENGTH_MAX = 65_536;
const HASH_FACTOR = 16_777_619;
const FILTER_MASK = 0xffff;
const EVERY_HASH = new Uint32Array(FILTER_MASK + 1).fill(1);

/**
 * The text with every stretch that also stands in the prompt (12 characters or more, whatever the case)
 * replaced by "[prompt]". A prompt shorter than that is replaced where it stands whole. Takes time linear in
 * both lengths, a few milliseconds for a prompt of a megabyte. A text of more than 65,536 characters loses
 * its end.
 */
export function withoutEcho(whole: string, prompt: string): string {
  const text = cutAtWhiteSpace(whole, TEXT_LENGTH_MAX);
  const pieceLength = Math.min(ECHO_CHARACTERS_MIN, prompt.length);
  if (pieceLength < 3) return text;
  const lowerPrompt = prompt.toLowerCase();
  const lowerText = text.toLowerCase();
  // Some letters change their length in lower case: positions then no longer correspond, and nothing is kept.
  if (lowerText.length !== text.length) return lowerText.includes(lowerPrompt) ? '[prompt]' : text;
  const pieces = piecesOfBoth(lowerText, lowerPrompt, pieceLength);
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
  rollHashes(prompt, length, filter, (hash, start) => {
    const piece = prompt.slice(start, start + length);
    const same = wanted.get(hash);
    if (!same?.delete(piece)) return;
    found.add(piece);
    if (same.size > 0) return;
    wanted.delete(hash);
    count(hash, -1);
  });
  return found;
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

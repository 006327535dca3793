// Counts the tokens of texts, in a thread of its own that `tokens.ts` starts.
//
// The vocabulary has 210,000 small objects, of 760,000 in the heap of an API that has done nothing: V8 would
// look through them each time that it collects garbage. A hostile text takes a third of a second to count.
import { createHash, hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/**
 * The tokenizer is slow on long runs without a space, so texts are cut into pieces, each at most one token
 * too many.
 */
const PIECE_CHARACTERS = 1_000;
/** Pieces counted of one text. Longer texts are extrapolated from so many, spread over the whole. */
const PIECES_MAX = 200;
/** Pieces counted before the other texts have their turn: two of a hostile text take 3 ms, mostly. */
const PIECES_PER_TURN = 2;
/** Bytes of chance that place one piece. */
const CHANCE_BYTES = 4;

/** Resolves to the tokens of a text that is not empty. Many at once are counted in rotation. */
export default async function count(text: string): Promise<number> {
  const pieces = Math.ceil(text.length / PIECE_CHARACTERS);
  const starts = pieces > PIECES_MAX ? spreadOver(text) : startsOf(pieces);
  let tokens = 0;
  let characters = 0;
  for (const [index, start] of starts.entries()) {
    if (index > 0 && index % PIECES_PER_TURN === 0) await setImmediate();
    const piece = text.slice(start, start + PIECE_CHARACTERS);
    tokens += countTokens(piece, { disallowedSpecial: new Set() });
    characters += piece.length;
  }
  return Math.ceil((tokens * text.length) / characters);
}

/** Where the pieces of a text that is counted whole begin. */
function startsOf(pieces: number): number[] {
  return Array.from({ length: pieces }, (_, index) => index * PIECE_CHARACTERS);
}

/**
 * Where the counted pieces of a long text begin: somewhere in each of as many equal parts. The text itself
 * decides where, so that repeats count the same, and a text cannot be written so that its cheap places are
 * the counted ones: another character there moves all pieces.
 */
function spreadOver(text: string): number[] {
  const chance = createHash('shake256', { outputLength: PIECES_MAX * CHANCE_BYTES })
    .update(hash('sha256', text))
    .digest();
  const part = text.length / PIECES_MAX;
  return Array.from({ length: PIECES_MAX }, (_, index) => {
    const room = (chance.readUInt32BE(index * CHANCE_BYTES) / 2 ** 32) * (part - PIECE_CHARACTERS);
    return Math.floor(index * part + room);
  });
}

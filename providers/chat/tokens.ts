// Counts tokens locally where an upstream did not report them; successful calls never depend on it.
import { createHash, hash } from 'node:crypto';
import { inTurn } from './counting-line.ts';
import { countImageTokens } from './image-tokens.ts';
import { readPrompt } from './prompt.ts';

/**
 * The tokenizer is slow on long runs without a space, so texts are cut into pieces, each at most one token
 * too many.
 */
const PIECE_CHARACTERS = 1_000;
/** Pieces counted of one text. Longer texts are extrapolated from so many, spread over the whole. */
const PIECES_MAX = 200;
/** Pieces counted in one turn: two of a hostile text take 3 ms, mostly. */
const PIECES_PER_TURN_MAX = 2;
/** Tokens of a message beside its text: its role and its delimiters. */
const TOKENS_PER_MESSAGE = 4;
/** Tokens of a file, which is not read. */
const TOKENS_PER_FILE = 1_500;
/** Bytes of chance that place one piece. */
const CHANCE_BYTES = 4;

/**
 * Loads the tokenizer, which stops the event loop for a quarter of a second and takes 80 MB: before a process
 * serves, so that the first hang-up delays no other call.
 */
export async function loadTokenizer(): Promise<void> {
  await countTokens('x');
}

/** Tokens of a text in the encoding of OpenAI's current models (o200k); other vendors' are close to it. */
export async function countTokens(text: string): Promise<number> {
  if (text === '') return 0;
  // Loaded on first use: the vocabulary is large, and most processes never need it.
  const { countTokens: count } = await import('gpt-tokenizer/encoding/o200k_base');
  const pieces = Math.ceil(text.length / PIECE_CHARACTERS);
  const starts = pieces > PIECES_MAX ? await inTurn(() => spreadOver(text)) : startsOf(pieces);
  let tokens = 0;
  let characters = 0;
  const countPiece = (start: number): void => {
    const piece = text.slice(start, start + PIECE_CHARACTERS);
    tokens += count(piece, { disallowedSpecial: new Set() });
    characters += piece.length;
  };
  for (let at = 0; at < starts.length; at += PIECES_PER_TURN_MAX)
    await inTurn(() => starts.slice(at, at + PIECES_PER_TURN_MAX).forEach(countPiece));
  return Math.ceil((tokens * text.length) / characters);
}

/** Approximate tokens of the prompt in the body of a chat request. */
export async function countPromptTokens(request: Readonly<Record<string, unknown>>): Promise<number> {
  const { texts, messages, images, files } = await inTurn(() => readPrompt(request));
  const ofImages = images.reduce((sum, image) => sum + countImageTokens(image), 0);
  const beside = messages * TOKENS_PER_MESSAGE + ofImages + files * TOKENS_PER_FILE;
  return (await countTokens(texts.join('\n'))) + beside;
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

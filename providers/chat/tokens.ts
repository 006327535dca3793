// Counts tokens locally where an upstream did not report them; successful calls never depend on it.
import { readPrompt } from './prompt.ts';

/**
 * The tokenizer is slow on long runs without a space, so texts are cut into pieces, each at most one token
 * too many.
 */
const PIECE_CHARACTERS = 1_000;
/** Longer texts are extrapolated from their beginning. */
const COUNTED_CHARACTERS_MAX = 200_000;
/** Pieces counted before the event loop gets its turn. */
const PIECES_PER_TURN_MAX = 2;
/** Tokens of a message beside its text: its role and its delimiters. */
const TOKENS_PER_MESSAGE = 4;
/** Tokens of a picture or a file, whose size is not looked at. */
const TOKENS_PER_PICTURE = 1_500;

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
  const counted = text.slice(0, COUNTED_CHARACTERS_MAX);
  let tokens = 0;
  let pieces = 0;
  for (let start = 0; start < counted.length; start += PIECE_CHARACTERS) {
    tokens += count(counted.slice(start, start + PIECE_CHARACTERS), { disallowedSpecial: new Set() });
    pieces += 1;
    if (pieces % PIECES_PER_TURN_MAX === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return Math.ceil((tokens * text.length) / counted.length);
}

/** Approximate tokens of the prompt in the body of a chat request. */
export async function countPromptTokens(request: Readonly<Record<string, unknown>>): Promise<number> {
  const { texts, messages, imageDetails, files } = readPrompt(request);
  const pictures = (imageDetails.length + files) * TOKENS_PER_PICTURE;
  return (await countTokens(texts.join('\n'))) + messages * TOKENS_PER_MESSAGE + pictures;
}

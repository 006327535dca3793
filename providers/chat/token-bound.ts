// Bounds the tokens of a prompt from above, for the reservation before the upstream counts.
//
// A tokenizer that works on bytes makes at most one token of each byte. Reserving that for every text would
// reserve four times the price of English, so ordinary text is recognised by its characters, in one pass of
// about two nanoseconds each, and everything else costs its bytes.
import { COMMON_CHARACTERS } from './common-characters.ts';
import { maxImageTokens } from './image-tokens.ts';
import { readPrompt } from './prompt.ts';

/** Tokens of a message beside its text: its role and its delimiters. */
const TOKENS_PER_MESSAGE = 8;
/** Tokens of a file, which its bytes do not tell: cut to the model's context by the order. */
const TOKENS_PER_FILE = 10_000_000;

/** Weights are counted in thirds of a token. */
const THIRDS = 3;
/**
 * A letter within a word: of two neighbours at least one is merged, so three letters are two tokens at most.
 * (Of the 676 pairs of small letters all but 29 are tokens of o200k_base; all but one of those hold one of
 * RARE_LETTERS.)
 */
const LETTER = 2;
const RARE_LETTER = 4;
const RARE_LETTERS = 'jqxzJQXZ';
const SPACE = 0x20;
const ASCII_END = 0x80;
const CAPITAL = 2;

/** Thirds of a token for each UTF-16 unit; of letters of ASCII, within a word. */
const WEIGHTS = weighUnits();
/** 1 for each small letter of ASCII, 2 for each capital, 0 for all other units. */
const LETTERS = Uint8Array.from({ length: WEIGHTS.length }, (_, code) =>
  isLetter(code) ? (isCapital(code) ? CAPITAL : 1) : 0,
);

/** Upper bound of the prompt's tokens in a chat request. */
export function maxPromptTokens(request: Readonly<Record<string, unknown>>): number {
  const { texts, messages, images, files } = readPrompt(request);
  const ofTexts = texts.reduce((sum, text) => sum + maxTokens(text), 0);
  const ofImages = images.reduce((sum, image) => sum + maxImageTokens(image), 0);
  return ofTexts + ofImages + messages * TOKENS_PER_MESSAGE + files * TOKENS_PER_FILE;
}

/** Upper bound of a text's tokens. */
export function maxTokens(text: string): number {
  let thirds = 0;
  let word = 0;
  let before = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const weight = WEIGHTS[code] ?? 0;
    if (LETTERS[code] !== 0) {
      // After a capital, two letters are not always merged.
      word += LETTERS[before] === CAPITAL && weight < THIRDS ? THIRDS : weight;
      // A word takes the space before it along, which was counted by itself.
      if (before === SPACE) word -= THIRDS - LETTER;
    } else {
      thirds += roundUp(word) + weight;
      word = 0;
      // Where scripts meet, a token may take the first byte of a character and leave the others.
      if (before >= ASCII_END && code >= ASCII_END && scriptOf(before) !== scriptOf(code)) thirds += THIRDS;
    }
    before = code;
  }
  return (thirds + roundUp(word)) / THIRDS;
}

function weighUnits(): Uint8Array {
  const weights = Uint8Array.from({ length: 0x1_00_00 }, (_, code) => bytesOf(code) * THIRDS);
  for (let code = 0; code < ASCII_END; code += 1)
    if (isLetter(code)) weights[code] = isCapital(code) ? THIRDS : LETTER;
  for (const letter of RARE_LETTERS) weights[letter.charCodeAt(0)] = RARE_LETTER;
  for (const line of COMMON_CHARACTERS)
    for (let at = 0; at < line.length; at += 1) weights[line.charCodeAt(at)] = THIRDS;
  return weights;
}

/** Bytes of a UTF-16 unit in UTF-8; half of the four bytes for half of a pair. */
function bytesOf(code: number): number {
  if (code < ASCII_END) return 1;
  return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 2 : 3;
}

/** A number for the script: one for alphabets of two bytes, one for East Asia, blocks of 128 between them. */
function scriptOf(code: number): number {
  if (code < 0x800) return 0;
  return code >= 0x2e80 ? 1 : code >> 7;
}

function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || isCapital(code);
}

function isCapital(code: number): boolean {
  return code >= 0x41 && code <= 0x5a;
}

function roundUp(thirds: number): number {
  const rest = thirds % THIRDS;
  return rest === 0 ? thirds : thirds + THIRDS - rest;
}

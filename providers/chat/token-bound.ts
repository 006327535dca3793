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

/** Thirds of a token for each UTF-16 unit; of letters of ASCII, within a word. */
const WEIGHTS = weighUnits();

/**
 * Where the count stands after a unit of ASCII: outside of a word, behind a space, or in a word behind a
 * small letter or a capital. The two of a word are three each, by the thirds of it beyond whole tokens.
 */
const OUTSIDE = 0;
const BEHIND_SPACE = 1;
const BEHIND_LETTER = 2;
const BEHIND_CAPITAL = 5;
const STATES = 8;

/** For each state the thirds that complete a word's last token, if the word ends there. */
const COMPLETIONS = Uint8Array.from({ length: STATES }, (_, state) => (THIRDS - restOf(state)) % THIRDS);
/** For each state and unit of ASCII: the thirds that it adds, times STATES, plus the state behind it. */
const STEPS = Uint8Array.from({ length: STATES * ASCII_END }, (_, index) =>
  stepFrom(Math.floor(index / ASCII_END), index % ASCII_END),
);

/**
 * A part of a text as numbers. Asking a string for its units one by one takes 3 to 18 nanoseconds each, by
 * what strings the process has seen before; through a copy it takes 2.
 */
const UNITS_AT_ONCE = 65_536;
const UNITS = new Uint16Array(UNITS_AT_ONCE);
const BYTES_OF_UNITS = Buffer.from(UNITS.buffer);

/** Upper bound of the prompt's tokens in a request of chat completions or Responses. */
export function maxPromptTokens(request: Readonly<Record<string, unknown>>): number {
  const { texts, messages, joints, images, files } = readPrompt(request);
  const ofTexts = texts.reduce((sum, text) => sum + maxTokens(text), 0);
  const ofImages = images.reduce((sum, image) => sum + maxImageTokens(image), 0);
  return ofTexts + ofImages + messages * TOKENS_PER_MESSAGE + joints + files * TOKENS_PER_FILE;
}

/** Upper bound of a text's tokens. */
export function maxTokens(text: string): number {
  let thirds = 0;
  let state = OUTSIDE;
  let before = 0;
  for (let from = 0; from < text.length; from += UNITS_AT_ONCE) {
    const count = BYTES_OF_UNITS.write(text.slice(from, from + UNITS_AT_ONCE), 'utf16le') / 2;
    for (let at = 0; at < count; at += 1) {
      const code = UNITS[at] ?? 0;
      if (code < ASCII_END) {
        const step = STEPS[state * ASCII_END + code] ?? 0;
        thirds += Math.floor(step / STATES);
        state = step % STATES;
      } else {
        thirds += (COMPLETIONS[state] ?? 0) + (WEIGHTS[code] ?? 0);
        // Where scripts meet, a token may take the first byte of a character and leave the others.
        if (before >= ASCII_END && scriptOf(before) !== scriptOf(code)) thirds += THIRDS;
        state = OUTSIDE;
      }
      before = code;
    }
  }
  return (thirds + (COMPLETIONS[state] ?? 0)) / THIRDS;
}

function stepFrom(state: number, code: number): number {
  const weight = WEIGHTS[code] ?? 0;
  if (!isLetter(code)) {
    const added = (COMPLETIONS[state] ?? 0) + weight;
    return added * STATES + (code === SPACE ? BEHIND_SPACE : OUTSIDE);
  }
  // After a capital, two letters are not always merged.
  const merged = state >= BEHIND_CAPITAL ? Math.max(weight, THIRDS) : weight;
  // A word takes the space before it along, which was counted by itself.
  const added = state === BEHIND_SPACE ? merged - (THIRDS - LETTER) : merged;
  const next = isCapital(code) ? BEHIND_CAPITAL : BEHIND_LETTER;
  return added * STATES + next + ((restOf(state) + added) % THIRDS);
}

/** Thirds of the word beyond whole tokens in a state. */
function restOf(state: number): number {
  return state < BEHIND_LETTER ? 0 : (state - BEHIND_LETTER) % THIRDS;
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

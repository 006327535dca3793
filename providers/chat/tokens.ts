// Counts tokens locally where an upstream did not report them; successful calls never depend on it.

/**
 * The tokenizer is slow on long runs without a space, so texts are cut into pieces, each at most one token
 * too many.
 */
const PIECE_CHARACTERS = 1_000;
/** Longer texts are extrapolated from their beginning. */
const COUNTED_CHARACTERS_MAX = 200_000;
/** Pieces counted before the event loop gets its turn. */
const PIECES_PER_TURN_MAX = 20;
/** Tokens of a message beside its text: its role and its delimiters. */
const TOKENS_PER_MESSAGE = 4;
/** Tokens of a picture, whose size is not looked at. */
const TOKENS_PER_IMAGE = 1_500;
/**
 * English has about four bytes per token, Chinese about two; usual texts have no less than one and a half.
 */
const BYTES_PER_TOKEN_MIN = 1.5;

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
  const { texts, messages, images } = readPrompt(request);
  return (await countTokens(texts.join('\n'))) + messages * TOKENS_PER_MESSAGE + images * TOKENS_PER_IMAGE;
}

/**
 * Upper bound of the prompt's tokens by its length in bytes, for the reservation before the upstream counts.
 */
export function maxPromptTokens(request: Readonly<Record<string, unknown>>): number {
  const { texts, messages, images, fileBytes } = readPrompt(request);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), fileBytes);
  return Math.ceil(bytes / BYTES_PER_TOKEN_MIN) + messages * TOKENS_PER_MESSAGE + images * TOKENS_PER_IMAGE;
}

interface Prompt {
  texts: string[];
  messages: number;
  /** Number of pictures and of files, which are not read either. */
  images: number;
  /** Bytes of all files: a document has no more tokens than bytes. */
  fileBytes: number;
}

/**
 * Collects all text that the model reads: messages, tools, response format. Pictures are counted, not read.
 */
function readPrompt(request: Readonly<Record<string, unknown>>): Prompt {
  const prompt: Prompt = { texts: [], messages: 0, images: 0, fileBytes: 0 };
  for (const name of ['tools', 'functions', 'response_format', 'prediction'])
    if (request[name] !== undefined) prompt.texts.push(JSON.stringify(request[name]));
  const messages = Array.isArray(request['messages']) ? request['messages'] : [];
  for (const message of messages) {
    prompt.messages += 1;
    collect(message, prompt);
  }
  return prompt;
}

function collect(value: unknown, prompt: Prompt): void {
  if (typeof value === 'string') prompt.texts.push(value);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name === 'image_url' || name === 'file') prompt.images += 1;
    // Roles and the types of parts are covered by TOKENS_PER_MESSAGE.
    else if (name !== 'role' && name !== 'type') collect(member, prompt);
    if (name === 'file') prompt.fileBytes += JSON.stringify(member).length;
  }
}

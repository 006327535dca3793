// Counting tokens ourselves, where an upstream did not say how many there were. Never on the way of a call that goes well.

/** The tokenizer is slow on long runs without a space, so texts are counted in pieces: at most one token too many each. */
const PIECE_CHARACTERS = 1_000;
/** Beyond this the rest is assumed to be like the beginning. */
const COUNTED_CHARACTERS_MAX = 200_000;
/** Other requests get their turn after so many pieces. */
const PIECES_AT_ONCE = 20;
/** What a message costs beside its text, and a picture that nobody has looked at. */
const TOKENS_PER_MESSAGE = 4;
const TOKENS_PER_IMAGE = 1_500;
/** English has about four characters per token and Chinese one and a half; nothing usual has less than one byte and a half. */
const BYTES_PER_TOKEN_MIN = 1.5;

/** Tokens of a text in the encoding of OpenAI's current models (o200k); other vendors' are close to it. */
export async function countTokens(text: string): Promise<number> {
  if (text === '') return 0;
  // Loaded when it is first needed: it is large, and most processes never need it.
  const { countTokens: count } = await import('gpt-tokenizer/encoding/o200k_base');
  const counted = text.slice(0, COUNTED_CHARACTERS_MAX);
  let tokens = 0;
  let pieces = 0;
  for (let start = 0; start < counted.length; start += PIECE_CHARACTERS) {
    tokens += count(counted.slice(start, start + PIECE_CHARACTERS), { disallowedSpecial: new Set() });
    pieces += 1;
    if (pieces % PIECES_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return Math.ceil((tokens * text.length) / counted.length);
}

/** Tokens of a prompt, about. `request` is the body of a chat request. */
export async function countPromptTokens(request: Readonly<Record<string, unknown>>): Promise<number> {
  const { texts, messages, images } = readPrompt(request);
  return (await countTokens(texts.join('\n'))) + messages * TOKENS_PER_MESSAGE + images * TOKENS_PER_IMAGE;
}

/** The most a prompt can have, by its length alone: what is set aside before the upstream counts. */
export function promptTokensAtMost(request: Readonly<Record<string, unknown>>): number {
  const { texts, messages, images, fileBytes } = readPrompt(request);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), fileBytes);
  return Math.ceil(bytes / BYTES_PER_TOKEN_MIN) + messages * TOKENS_PER_MESSAGE + images * TOKENS_PER_IMAGE;
}

interface Prompt {
  texts: string[];
  messages: number;
  /** Files count as one, too: nobody has read them. */
  images: number;
  /** Of the files. A document has no more tokens than it has bytes. */
  fileBytes: number;
}

/** Everything that the model reads: messages, tools, the wished-for format. Pictures are counted, not read. */
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
    // A role and the kind of a part are among what every message costs.
    else if (name !== 'role' && name !== 'type') collect(member, prompt);
    if (name === 'file') prompt.fileBytes += JSON.stringify(member).length;
  }
}

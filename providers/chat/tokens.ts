// Counts tokens locally where an upstream did not report them; successful calls never depend on it.
import { Piscina } from 'piscina';
import { countImageTokens } from './image-tokens.ts';
import { readPrompt } from './prompt.ts';
import { createRoundQueue } from './round-queue.ts';

/**
 * The thread that counts, which starts with the first text and stays to the end of the process. It gets less
 * of the processors than the thread that answers callers.
 */
const counter = new Piscina<string, number>({
  filename: new URL('./token-thread.ts', import.meta.url).href,
  minThreads: 0,
  maxThreads: 1,
  idleTimeout: Infinity,
  concurrentTasksPerWorker: Infinity,
  atomics: 'disabled', // which would have the thread wait for one text after the other
  niceIncrement: 5,
});
// The death of a thread that has nothing to count fails no call: without a listener it would end the process.
counter.on('error', () => undefined);

/** Reads prompts in this thread: two hundred streams that are left at once are counted at once. */
const readInTurn = createRoundQueue();

/** Tokens of a message beside its text: its role and its delimiters. */
const TOKENS_PER_MESSAGE = 4;
/** Tokens of a file, which is not read. */
const TOKENS_PER_FILE = 1_500;

/** Loads the tokenizer, which takes a quarter of a second and 80 MB: before a process serves. */
export async function loadTokenizer(): Promise<void> {
  await countTokens('x');
}

/** Tokens of a text in the encoding of OpenAI's current models (o200k); other vendors' are close to it. */
export async function countTokens(text: string): Promise<number> {
  if (text === '') return 0;
  return counter.run(text).catch(() => counter.run(text)); // the thread died: another one counts
}

/** Approximate tokens of the prompt in the body of a chat request. */
export async function countPromptTokens(request: Readonly<Record<string, unknown>>): Promise<number> {
  const { texts, messages, images, files } = await readInTurn(() => readPrompt(request));
  const ofImages = images.reduce((sum, image) => sum + countImageTokens(image), 0);
  const beside = messages * TOKENS_PER_MESSAGE + ofImages + files * TOKENS_PER_FILE;
  return (await countTokens(texts.join('\n'))) + beside;
}

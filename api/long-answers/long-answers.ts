// Long answers that are not streamed are read and written in a thread, which stops no other caller.
//
// With `top_logprobs`, 16,000 tokens are 20 MB of small values: parsing, checking and writing them takes half
// a second and more.
import { Piscina } from 'piscina';
import type { ReadLongAnswer, WholeFormSource } from '../chat/whole-reading.ts';
import type { Log } from '../../log.ts';
import type { ThreadAnswer } from './thread.ts';

/**
 * Heap of the thread, which must never be used up: V8 would end the whole process in the middle of parsing.
 * The most that its bounds let through take 400 MB.
 */
const HEAP_MB = 1_024;
/** The thread ends when it has had nothing to do for so long; it starts within a second. */
const IDLE_MS = 60_000;

/** Starts no thread before the first long answer. One is read after the other. */
export function createLongAnswers(log: Pick<Log, 'warn'>): ReadLongAnswer {
  const thread = new Piscina<{ bytes: Uint8Array; source: WholeFormSource }, ThreadAnswer | null>({
    filename: new URL('./thread.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    niceIncrement: 5,
  });
  // Its death fails the one answer that it reads; without a listener it would end the process.
  thread.on('error', (err: unknown) => log.warn({ err }, 'the thread that reads long answers died'));
  return async (bytes, source) => {
    const answer = await thread.run({ bytes, source }).catch((err: unknown) => {
      log.warn({ err, bytes: bytes.length }, 'a long answer was not read');
      return null;
    });
    if (!answer) return null;
    const { reported, billableText, before, after } = answer;
    return {
      reported,
      billableText: () => billableText,
      body: (usage) => `${before}${JSON.stringify(usage)}${after}`,
    };
  };
}

// Prints the progress of starting the parts: one short line for each step, with its duration.
import { styleText } from 'node:util';

export interface Terminal {
  /** Runs a step and prints that it is done, or that it failed. */
  step<Result>(name: string, run: () => Promise<Result>): Promise<Result>;
  note(message: string): void;
  warn(message: string): void;
  fail(message: string): void;
  /** Prints a block unchanged, for text that is to be copied. */
  block(text: string): void;
}

type Style = Parameters<typeof styleText>[0];

export function openTerminal(): Terminal {
  // A closed pipe ends the output only: the system runs on, and is still stopped in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const mark = (style: Style, sign: string, text: string): void => {
    console.log(`${paint(style, sign)} ${text}`);
  };
  return {
    step: async (name, run) => {
      const startedAt = performance.now();
      const result = await run();
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      mark('green', '✓', `${name} ${paint('dim', `${seconds} s`)}`);
      return result;
    },
    note: (message) => mark('dim', '·', paint('dim', message)),
    warn: (message) => mark('yellow', '!', message),
    fail: (message) => console.error(`${paint('red', '✗')} ${message}`),
    block: (text) => console.log(text),
  };
}

/** Describes an error in one sentence that a person can act on, without the stack. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || error.message.includes('No space left on device')) {
    return `The disk is full: make room, then start again (${firstLine(error.message)}).`;
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return `A file cannot be written or read: ${error.message}. Change its permissions, or set SVC_DATA_DIR to another folder.`;
  }
  return error.message;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

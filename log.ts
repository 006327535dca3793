// Creates loggers of JSON lines without secrets: some headers are always removed, every text is masked.
import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino';
import { maskText } from './domain/masking/masking.ts';
import { cutText } from './domain/cut-text.ts';

export type Log = Logger;

const MESSAGE_CHARACTERS_MAX = 500;
const STACK_FRAMES_MAX = 8;
/**
 * Removed from stack frames, which then name a file of this project instead of a URL that would be masked.
 */
const PROJECT_URL = new URL('.', import.meta.url).href;

/** Creates the logger of a process. `destination` is standard output unless a test passes another. */
export function createLog(options: { process: string; level: string }, destination?: DestinationStream): Log {
  const settings = {
    level: options.level,
    base: { process: options.process },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    redact: {
      paths: ['req.headers.authorization', 'req.headers.cookie', 'res.headers["set-cookie"]'],
      censor: '[masked]',
    },
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: serialiseError },
    hooks: { logMethod: maskMessages },
  };
  return destination ? pino(settings, destination) : pino(settings);
}

/** Keeps type, code and masked texts only: errors of drivers contain statements and their parameters. */
function serialiseError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: maskText(String(error)) };
  const { type, message, stack } = stdSerializers.err(error);
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: serialiseError(error.cause) };
  return { type, ...code, message: maskText(firstLine(message)), stack: maskText(framesOf(stack)), ...cause };
}

/** Drops what follows a line break: a driver's message has the failed statement first, then its values. */
function firstLine(message: string): string {
  return cutText(message.split('\n', 1)[0] ?? '', MESSAGE_CHARACTERS_MAX);
}

function framesOf(stack: string): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return frames.slice(0, STACK_FRAMES_MAX).join('\n').replaceAll(PROJECT_URL, '');
}

function maskMessages(this: Logger, parameters: unknown[], method: (...all: unknown[]) => void): void {
  method.apply(
    this,
    parameters.map((part) => (typeof part === 'string' ? maskText(part) : part)),
  );
}

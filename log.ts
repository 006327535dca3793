// Logging: JSON lines without secrets. Fixed paths are cut out, and every text passes the masker.
import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino';
import { maskText } from './domain/masking/masking.ts';

export type Log = Logger;

/** Where this project lies, as frames write it: what is left after it names a file and is no URL to be masked. */
const PROJECT_URL = new URL('.', import.meta.url).href;

/** A logger for one process; `destination` is standard output unless a test listens. */
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

/** Driver errors carry statements and parameters; only type, code and masked texts are kept. */
function serialiseError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: maskText(String(error)) };
  const { type, message, stack } = stdSerializers.err(error);
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: serialiseError(error.cause) };
  return { type, ...code, message: maskText(firstLine(message)), stack: maskText(framesOf(stack)), ...cause };
}

/** A statement that failed stands in the first line of a driver's message, its values after a line break. */
function firstLine(message: string): string {
  return message.split('\n', 1)[0]?.slice(0, 500) ?? '';
}

function framesOf(stack: string): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return frames.slice(0, 8).join('\n').replaceAll(PROJECT_URL, '');
}

function maskMessages(this: Logger, parameters: unknown[], method: (...all: unknown[]) => void): void {
  method.apply(
    this,
    parameters.map((part) => (typeof part === 'string' ? maskText(part) : part)),
  );
}

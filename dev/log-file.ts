/** The log of one child process: a file of bounded size, and its newest lines at hand. */
import { createWriteStream, mkdirSync, renameSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface ChildLog {
  /** Writes the stream to the log, or hands its lines to `take` instead. */
  follow(stream: Readable, take?: (line: string) => void): void;
  /** The newest lines, oldest first. */
  lastLines(): string[];
  close(): void;
}

const fileBytesMax = 20 * 1024 * 1024;
const linesKept = 15;
const charactersKept = 8_000;

/** Opens a log; what an earlier process of the same name wrote is kept beside it as `.1`. */
export function openLog(file: string): ChildLog {
  mkdirSync(dirname(file), { recursive: true });
  let stream = startFile(file);
  let writtenBytes = 0;
  let tail = '';

  const write = (chunk: Buffer): void => {
    tail = (tail + chunk.toString('utf8')).slice(-charactersKept);
    if (writtenBytes > fileBytesMax) {
      stream.end();
      stream = startFile(file);
      writtenBytes = 0;
    }
    writtenBytes += chunk.length;
    stream.write(chunk);
  };

  return {
    follow: (source, take) => {
      if (take === undefined) source.on('data', write);
      else createInterface({ input: source, crlfDelay: Infinity }).on('line', take);
    },
    lastLines: () => tail.trimEnd().split('\n').slice(-linesKept),
    close: () => stream.end(),
  };
}

function startFile(file: string): WriteStream {
  try {
    renameSync(file, `${file}.1`);
  } catch {
    // There was none.
  }
  const stream = createWriteStream(file, { mode: 0o600 });
  // A full disk must not take the running system down with its log; the newest lines stay in memory.
  stream.on('error', () => undefined);
  return stream;
}

// Writes the log of one child process to a file of bounded size, and keeps its newest lines in memory.
import { createWriteStream, mkdirSync, renameSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface ChildLog {
  /** Writes the stream to the log, or hands its lines to `take` instead. */
  follow(stream: Readable, take?: (line: string) => void): void;
  /** Returns the newest lines, oldest first. */
  lastLines(): string[];
  close(): void;
}

const FILE_BYTES_MAX = 20 * 1024 * 1024;
const LINES_KEPT = 15;
const CHARACTERS_KEPT = 8_000;

/** Opens a log; the log of an earlier process of the same name is kept beside it as `.1`. */
export function openLog(file: string): ChildLog {
  mkdirSync(dirname(file), { recursive: true });
  let stream = startFile(file);
  let writtenBytes = 0;
  let tail = '';

  const write = (chunk: Buffer): void => {
    tail = (tail + chunk.toString('utf8')).slice(-CHARACTERS_KEPT);
    if (writtenBytes > FILE_BYTES_MAX) {
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
    lastLines: () => tail.trimEnd().split('\n').slice(-LINES_KEPT),
    close: () => stream.end(),
  };
}

function startFile(file: string): WriteStream {
  try {
    renameSync(file, `${file}.1`);
  } catch {
    // There was no earlier log.
  }
  const stream = createWriteStream(file, { mode: 0o600 });
  // A full disk must not take the running system down with its log; the newest lines stay in memory.
  stream.on('error', () => undefined);
  return stream;
}

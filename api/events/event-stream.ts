// Writes server-sent events to one reader, with a bounded buffer: a reader that is too slow is cut off.
import type { ServerResponse } from 'node:http';

export interface EventStream {
  /** Writes an event. A reader that has seen it resumes from `id`. */
  send(event: { event: string; id: string; data: unknown }): void;
  /** Moves the point from which the reader resumes, without an event. */
  moveTo(id: string): void;
  /** Resolves when what was written has left this process, or the stream has ended. */
  drained(): Promise<void>;
  /** Ends the stream in order; the reader comes back by itself. */
  end(): void;
  /** Resolves when the stream has ended, whichever side ended it. */
  ended: Promise<void>;
  /** Whether nothing more can be written: the stream has ended, or its reader was cut off. */
  hasEnded(): boolean;
}

/** Time after which a browser comes back when a stream ended. */
export const RETRY_MS = 3_000;
/**
 * Bytes that may wait for one reader. One task with a long conversation is a megabyte. Of a reader that takes
 * none of them for a minute, the connection is cut as with any answer (`api/http/unread-answers.ts`).
 */
const BUFFER_BYTES_MAX = 4 * 1024 * 1024;

/** Begins a stream whose headers were sent. Silence is filled with a comment every `commentEveryMs`. */
export function openEventStream(res: ServerResponse, commentEveryMs: number): EventStream {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let lastId: string | null = null;

  const end = (): void => {
    clearInterval(timer);
    if (!res.writableEnded) res.end();
    resolve();
  };
  const hasEnded = (): boolean => res.writableEnded || res.destroyed;
  const write = (text: string): void => {
    if (hasEnded()) return;
    // Cut off, not ended: the reader resumes from the last id it has seen.
    if (res.writableLength > BUFFER_BYTES_MAX) res.destroy();
    else res.write(text);
  };
  const timer = setInterval(() => write(`: still here\n${idLine(lastId)}\n`), commentEveryMs);
  res.once('close', end);
  if (res.destroyed) end();
  write(`retry: ${RETRY_MS}\n\n`);
  return {
    send: ({ event, id, data }) => {
      if (hasEnded()) return; // writing megabytes as JSON takes time
      lastId = id;
      write(`${idLine(id)}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    },
    moveTo: (id) => {
      if (id !== lastId) write(`${idLine(id)}\n`);
      lastId = id;
    },
    drained: () =>
      new Promise((settle) => {
        if (!res.writableNeedDrain) return settle();
        res.once('drain', settle);
        void ended.then(settle);
      }),
    end,
    ended,
    hasEnded,
  };
}

function idLine(id: string | null): string {
  return id === null ? '' : `id: ${id}\n`;
}

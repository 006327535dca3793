// A reader of GET /api/events, as a browser's EventSource reads it.
import { z } from 'zod';
import { until } from '../until.ts';

const DATA = z.record(z.string(), z.unknown());

export interface ReadEvent {
  event: string;
  id: string;
  data: Readonly<Record<string, unknown>>;
}

export interface EventReader {
  status: number;
  headers: Headers;
  /** The events so far. */
  events: ReadEvent[];
  /** All that came, comments included. */
  text: () => string;
  lastId: () => string;
  /** Resolves with the first event that fits; fails when none comes. */
  next: (what: string, fits: (event: ReadEvent) => boolean) => Promise<ReadEvent>;
  /** Whether the gateway has ended the stream. */
  hasEnded: () => boolean;
  close: () => void;
}

export async function openEvents(
  baseUrl: string,
  token: string,
  headers: Record<string, string> = {},
): Promise<EventReader> {
  const closing = new AbortController();
  const response = await fetch(`${baseUrl}/api/events`, {
    headers: { cookie: `svc_session=${token}`, ...headers },
    signal: closing.signal,
  });
  const events: ReadEvent[] = [];
  let text = '';
  let lastId = '';
  let hasEnded = false;
  const readBlock = (block: string): void => {
    const fields = block
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith(':'))
      .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)] as const);
    const field = (wanted: string): string | undefined => fields.find(([name]) => name === wanted)?.[1];
    lastId = field('id') ?? lastId;
    const data = field('data');
    if (data !== undefined)
      events.push({ event: field('event') ?? 'message', id: lastId, data: DATA.parse(JSON.parse(data)) });
  };
  const read = async (): Promise<void> => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const piece = decoder.decode(chunk, { stream: true });
      text += piece;
      const blocks = `${rest}${piece}`.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) readBlock(block);
    }
  };
  void readAll(read, response).finally(() => (hasEnded = true));
  return {
    status: response.status,
    headers: response.headers,
    events,
    text: () => text,
    lastId: () => lastId,
    next: (what, fits) => until(what, async () => events.find(fits)),
    hasEnded: () => hasEnded,
    close: () => closing.abort(),
  };
}

async function readAll(read: () => Promise<void>, response: Response): Promise<void> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return;
  await read().catch(() => undefined); // closed by the test, or cut off
}

// What one hostile user with few credits can send: the attacks of the bench `neighbours`, each until aborted.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

export interface Hostile {
  baseUrl: string;
  /** API keys of one user. */
  keys: readonly string[];
  /** Ends the attack. */
  signal: AbortSignal;
  /** Notes the status of an answer, or that there was none. */
  note: (status: number | 'cut') => void;
  /** Notes a request that was sent in full, or answered before; those of `fetch` are noticed without it. */
  noteSent: () => void;
}

/** What an attack amounted to. */
export interface Told {
  /** Requests that the attacks consist of in the time they had, and those that were sent in full. */
  planned: number;
  sent: number;
  /** Answers by status; `cut` are requests whose connection ended without one. */
  answers: Record<string, number>;
}

interface Attack {
  /**
   * Makes what is sent, which takes up to a second, and returns what plays the attack until it is aborted.
   */
  prepare: () => (hostile: Hostile) => Promise<void>;
  /** Requests of a burst; with `everyMs` there is another one after so many milliseconds. */
  requests: number;
  everyMs?: number;
}

const POISONED_REFUSALS = 220;
const HELD_STREAMS = 516;
const BOMB_EVERY_MS = 1_000;
const BOMB_OBJECTS = 10_835_285;
const MASKED_STRINGS = 4;
const REFUSED_PROMPT_EVERY_MS = 500;
const REFUSED_PROMPT_CHARACTERS = 1_000_000;
const CREATIONS_EVERY_MS = 2_000;
const PARALLEL_CREATIONS = 200;
const SLOW_IMAGES = 80;
const SLOW_BODIES = Number(process.env['BENCH_SLOW_BODIES'] ?? 4_000);
const SLOW_BODY_BYTES = 1024 * 1024;
/** Bytes of a slow body that are left to be sent now and then. */
const SLOW_BYTES_LEFT = 6;
const SLOW_BYTE_EVERY_MS = 20_000;
const CHAT = '/v1/chat/completions';

const say = (content: string) => [{ role: 'user', content }];

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'poisoned refusals': {
    requests: POISONED_REFUSALS,
    prepare: () => {
      const body = { model: 'gpt-6-luna', max_tokens: 5, messages: say('hi there') };
      const poisoned = JSON.stringify({ ...body, reasoning_effort: '\u{1F600}'.repeat(400) });
      return async (hostile) => {
        for (let call = 0; call < POISONED_REFUSALS && !hostile.signal.aborted; call += 1) {
          void post(hostile, call, CHAT, poisoned);
          await pause(hostile, 20);
        }
        await untilAborted(hostile);
      };
    },
  },
  'held streams': {
    requests: HELD_STREAMS,
    prepare: () => {
      const messages = say('x [[sandbox first=600000]]');
      const body = JSON.stringify({ model: 'gpt-6-luna', stream: true, max_tokens: 5, messages });
      return async (hostile) => {
        for (let call = 0; call < HELD_STREAMS; call += 1) void post(hostile, call, CHAT, body);
        await untilAborted(hostile);
      };
    },
  },
  'JSON bombs': {
    requests: 1,
    everyMs: BOMB_EVERY_MS,
    prepare: () => {
      const bomb = gzipSync(`{"a":[${'{},'.repeat(BOMB_OBJECTS)}0]}`, { level: 9 });
      return (hostile) =>
        repeat(hostile, BOMB_EVERY_MS, (call) =>
          post(hostile, call, '/v1/estimates', bomb, { 'content-encoding': 'gzip' }),
        );
    },
  },
  'masking bombs': {
    requests: 1,
    everyMs: BOMB_EVERY_MS,
    prepare: () => {
      const note = JSON.stringify({ a: `${'[password='.repeat(6_400)}x` });
      const notes = Object.fromEntries(
        Array.from({ length: MASKED_STRINGS }, (_, index) => [`n${index}`, note]),
      );
      const order = { model: 'grok-imagine-video', prompt: 'waves', duration: 4, metadata: notes };
      const body = JSON.stringify(order);
      return (hostile) =>
        repeat(hostile, BOMB_EVERY_MS, (call) => post(hostile, call, '/v1/videos/generations', body));
    },
  },
  'refused megabytes': {
    requests: 1,
    everyMs: REFUSED_PROMPT_EVERY_MS,
    prepare: () => {
      const words = Array.from({ length: REFUSED_PROMPT_CHARACTERS / 8 }, (_, word) =>
        `w${word}`.padEnd(7, 'o'),
      );
      const messages = say(words.join(' '));
      const body = JSON.stringify({ model: 'gpt-6-luna', max_tokens: 5, messages, reasoning_effort: 'bad' });
      return (hostile) => repeat(hostile, REFUSED_PROMPT_EVERY_MS, (call) => post(hostile, call, CHAT, body));
    },
  },
  'slow bodies': {
    requests: SLOW_BODIES,
    prepare: () => {
      const bytes = Buffer.alloc(SLOW_BODY_BYTES - SLOW_BYTES_LEFT, ' ');
      return async (hostile) => {
        for (let body = 0; body < SLOW_BODIES && !hostile.signal.aborted; body += 1) {
          sendSlowly(hostile, body, bytes);
          if (body % 50 === 49) await pause(hostile, 20);
        }
        await untilAborted(hostile);
      };
    },
  },
  'parallel creations': {
    requests: PARALLEL_CREATIONS,
    everyMs: CREATIONS_EVERY_MS,
    prepare: () => {
      const body = JSON.stringify({ model: 'gpt-image-2', prompt: 'a burst [[sandbox seconds=0]]' });
      return (hostile) =>
        repeat(hostile, CREATIONS_EVERY_MS, async () => {
          const all = Array.from({ length: PARALLEL_CREATIONS }, (_, call) =>
            post(hostile, call, '/v1/images/generations', body),
          );
          await Promise.all(all);
        });
    },
  },
  'slow images': {
    requests: SLOW_IMAGES,
    prepare: () => {
      const body = JSON.stringify({ model: 'gpt-image-2', prompt: 'a slow one [[sandbox seconds=45]]' });
      return async (hostile) => {
        for (let image = 0; image < SLOW_IMAGES; image += 1)
          await post(hostile, image, '/v1/images/generations', body);
        await untilAborted(hostile);
      };
    },
  },
};

/** Requests that the attack consists of when it is played for so long. */
export function planRequests(name: string, forMs: number): number {
  const { requests = 0, everyMs = Infinity } = ATTACKS[name] ?? {};
  return requests * (1 + Math.floor(forMs / everyMs));
}

async function post(
  { baseUrl, keys, signal, note }: Hostile,
  call: number,
  path: string,
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<void> {
  const authorization = `Bearer ${keys[call % keys.length]}`;
  try {
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', ...headers },
      body,
      signal,
    });
    note(response.status);
    await response.text();
  } catch {
    note('cut');
  }
}

/** Announces a body and sends nearly all of it, then a byte now and then. */
function sendSlowly({ baseUrl, keys, signal, note, noteSent }: Hostile, index: number, bytes: Buffer): void {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port), signal });
  const head = [
    `POST ${CHAT} HTTP/1.1`,
    `host: ${hostname}`,
    `authorization: Bearer ${keys[index % keys.length]}`,
    'content-type: application/json',
    `content-length: ${SLOW_BODY_BYTES}`,
  ];
  let isSent = false;
  let isAnswered = false;
  const noteOnce = (): void => {
    if (!isSent) noteSent();
    isSent = true;
  };
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(bytes, (error) => {
    if (!error) noteOnce();
  });
  const drip = setInterval(() => socket.write(' '), SLOW_BYTE_EVERY_MS);
  socket.once('data', (answer) => {
    noteOnce();
    note(Number(String(answer).slice(9, 12)));
    isAnswered = true;
  });
  socket.on('error', () => undefined);
  socket.once('close', () => {
    clearInterval(drip);
    if (!isAnswered) note('cut');
  });
}

async function repeat(
  hostile: Hostile,
  everyMs: number,
  send: (call: number) => Promise<void>,
): Promise<void> {
  for (let call = 0; !hostile.signal.aborted; call += 1) {
    void send(call);
    await pause(hostile, everyMs);
  }
}

async function pause({ signal }: Hostile, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

async function untilAborted({ signal }: Hostile): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

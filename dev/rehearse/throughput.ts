// Measures chats and tasks with one API and one worker, then with two of each, beside a bare workflow.
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { measure, middle, type Measured } from '../../bench/measure.ts';
import type { Callers } from './callers.ts';
import { ROOM } from './files.ts';
import { BARE } from './measured-stage.ts';
import { checkLedger, countTasks, findUncharged, untilSettled } from './settled.ts';
import type { Stage } from './stage.ts';
import type { Account } from './walk.ts';

export interface Throughput {
  one: Rates;
  two: Rates;
  rounds: number;
  concurrency: number;
  /** Answers of 429 and 503, whose orders were repeated. */
  refused: number;
  /** What was not exact. */
  problems: readonly string[];
}

type Shape = 'one' | 'two';

/** Answered orders per second, the middle one of the rounds. */
export type Rates = Readonly<Record<'chats' | 'tasks' | 'bare', number>>;

const SECOND = ['second-api', 'second-worker'];
const ROUNDS = 3;
const CONCURRENCY = 20;
const CHATS = 1_000;
const TASKS = 100;
const CHAT = {
  model: 'gpt-6-luna',
  messages: [{ role: 'user', content: 'Hi [[sandbox tokens=5 delay=0]]' }],
};
const IMAGE = { model: 'gpt-image-2', prompt: 'a pier [[sandbox seconds=0]]' };
const REPEAT_MS = 250;
const SETTLED_MS_MAX = 60_000;
const MEASURED = z.object({ perSecond: z.number(), p50Ms: z.number(), p99Ms: z.number() });
/** A task that is not ended, and was waited for too long, or the pictures that came of it. */
const TASK = z.looseObject({ id: z.string().optional(), status: z.string().optional() });
const COMPLETED_CALLS = `select count(*) from chat_call where status = 'completed'`;
const CHARGED_CALLS = `select count(*) from ledger_transfer where kind = 'charge' and call_id is not null`;

/** Alternates between one and two of each, so that a slow moment of the machine falls on both. */
export async function measureThroughput(
  stage: Stage,
  callers: Callers,
  { apiKey }: Pick<Account, 'apiKey'>,
): Promise<Throughput> {
  const orders = createOrders(callers, apiKey);
  const before = { tasks: await countTasks(stage), chats: Number(await stage.sql(COMPLETED_CALLS)) };
  await stage.compose('up', '--detach', '--no-deps', '--scale', `${BARE}=1`, BARE);
  await measureBare(stage, CONCURRENCY); // waits for its worker
  const rounds: Record<Shape, Record<keyof Rates, Measured>[]> = { one: [], two: [] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const shape of ['two', 'one'] as const) {
      await bring(stage, shape);
      await measure(CHATS, CONCURRENCY, orders.chat); // every process is warm afterwards
      await measure(TASKS, CONCURRENCY, orders.image);
      rounds[shape].push({
        chats: await measure(CHATS, CONCURRENCY, orders.chat),
        tasks: await measure(TASKS, CONCURRENCY, orders.image),
        bare: await measureBare(stage, TASKS),
      });
    }
  await bring(stage, 'two');
  const { chats, tasks, refused } = orders.counts;
  const problems = await judge(stage, { tasks: before.tasks + tasks, chats: before.chats + chats });
  const [one, two] = [middleOf(rounds.one), middleOf(rounds.two)];
  return { one, two, rounds: ROUNDS, concurrency: CONCURRENCY, refused, problems };
}

function middleOf(rounds: readonly Record<keyof Rates, Measured>[]): Rates {
  const rate = (name: keyof Rates): number => middle(rounds.map((measured) => measured[name])).perSecond;
  return { chats: rate('chats'), tasks: rate('tasks'), bare: rate('bare') };
}

/** Stops or starts the second API and worker; the proxy knows those that run only. */
async function bring(stage: Stage, shape: Shape): Promise<void> {
  await stage.compose(shape === 'one' ? 'stop' : 'start', ...SECOND);
  if (shape === 'two') for (const service of SECOND) await stage.untilHealthy(service);
  const whole = readFileSync(join(import.meta.dirname, 'config', 'proxy.conf'), 'utf8');
  const shown = shape === 'two' ? whole : whole.replace(/^ *server second-api.*\n/m, '');
  writeFileSync(join(ROOM, 'config', 'proxy.conf'), shown);
  await stage.reloadProxy();
}

interface Orders {
  /** Sends one and waits until it is answered whole. What is refused is repeated. */
  chat: () => Promise<void>;
  /** Sends one and waits until it is made and charged. */
  image: () => Promise<void>;
  /** Orders that were answered, and answers that refused one. */
  counts: Readonly<Record<'chats' | 'tasks' | 'refused', number>>;
}

function createOrders(callers: Callers, apiKey: string): Orders {
  const counts = { chats: 0, tasks: 0, refused: 0 };
  const proof = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', prefer: 'wait=60' };
  /** The text of an answer that refuses nothing. */
  const ask = async (path: string, order: RequestInit): Promise<string> => {
    for (;;) {
      const response = await callers.raw(path, order);
      const text = await response.text();
      if (response.ok) return text;
      if (response.status !== 429 && response.status !== 503)
        throw new Error(`${path} answered ${response.status}: ${text}`);
      counts.refused += 1;
      await sleep(REPEAT_MS);
    }
  };
  const send = (path: string, body: object): Promise<string> => {
    const headers = { ...proof, 'idempotency-key': randomUUID() };
    return ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const chat = async (): Promise<void> => {
    await send('/v1/chat/completions', CHAT);
    counts.chats += 1;
  };
  const image = async (): Promise<void> => {
    let answer = TASK.parse(JSON.parse(await send('/v1/images/generations', IMAGE)));
    while (answer.status === 'queued' || answer.status === 'in_progress')
      answer = TASK.parse(JSON.parse(await ask(`/v1/images/tasks/${answer.id}`, { headers: proof })));
    if (answer.status !== undefined && answer.status !== 'completed')
      throw new Error(`an image ended as ${answer.status}`);
    counts.tasks += 1;
  };
  return { chat, image, counts };
}

async function measureBare(stage: Stage, total: number): Promise<Measured> {
  const said = await stage.compose(
    ...['exec', '-T', BARE, 'node', 'bench/bare/rate.ts', String(total), String(CONCURRENCY)],
  );
  return MEASURED.parse(JSON.parse(said));
}

/** Accepted is what was made, completed and charged, and the ledger adds up. */
async function judge(stage: Stage, expected: Record<'tasks' | 'chats', number>): Promise<string[]> {
  const problems: string[] = [];
  await untilSettled(stage, SETTLED_MS_MAX, problems);
  const counts = {
    tasks: await countTasks(stage),
    'completed chats': Number(await stage.sql(COMPLETED_CALLS)),
    'charged chats': Number(await stage.sql(CHARGED_CALLS)),
  };
  for (const [what, count] of Object.entries(counts)) {
    const wanted = what === 'tasks' ? expected.tasks : expected.chats;
    if (count !== wanted) problems.push(`there are ${count} ${what}, not ${wanted}`);
  }
  return [...problems, ...(await findUncharged(stage)), ...(await checkLedger(stage))];
}

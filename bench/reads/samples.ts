// Tasks and calls that the product itself made through its API, one of each kind: what a history repeats.
import { sql } from '@mikro-orm/postgresql';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSession } from '../../db/identity/sessions.ts';
import { findUserByEmail } from '../../db/identity/users.ts';
import { forkEm, type Database, type Em } from '../../db/database.ts';
import type { BenchSystem } from '../system.ts';

/** Ids by how the task or call ended. */
export interface Samples {
  tasks: Readonly<Record<'image' | 'video' | 'failed' | 'cancelled', string>>;
  calls: Readonly<Record<'answered' | 'failed', string>>;
}

const IMAGE = { path: '/v1/images/generations', model: 'gpt-image-2' };
const VIDEO = { path: '/v1/videos/generations', model: 'grok-imagine-video' };
const CHAT_MODEL = 'gpt-6-luna';
const DEADLINE_MS = 60_000;
const LOOK_EVERY_MS = 200;

/** Orders them as the demo user and waits until each has ended as it should. */
export async function makeSamples(system: BenchSystem, database: Database): Promise<Samples> {
  const em = forkEm(database);
  const user = await findUserByEmail(em, system.demo.user.email);
  if (!user) throw new Error('there is no demo user');
  const order = async ({ path, model }: typeof IMAGE, directives: string): Promise<string> =>
    findTaskId(await post(system, path, { model, prompt: `a sample [[sandbox ${directives}]]` }));
  const tasks = {
    image: await order(IMAGE, 'seconds=0'),
    video: await order(VIDEO, 'seconds=0'),
    failed: await order(IMAGE, 'seconds=0 outcome=fail'),
    cancelled: await order(VIDEO, 'seconds=600'),
  };
  await untilStatus(em, { [tasks.cancelled]: 'in_progress' });
  const cookie = `svc_session=${await createSession(em, system.secrets, user.id)}`;
  await fetch(`${system.baseUrl}/api/tasks/${tasks.cancelled}`, { method: 'DELETE', headers: { cookie } });
  await untilStatus(em, {
    ...{ [tasks.image]: 'completed', [tasks.video]: 'completed' },
    ...{ [tasks.failed]: 'failed', [tasks.cancelled]: 'cancelled' },
  });
  await chat(system, 'a sample');
  await chat(system, 'a sample [[sandbox submit=500]]');
  return {
    tasks,
    calls: {
      answered: await findCallId(em, user.id, 'completed'),
      failed: await findCallId(em, user.id, 'failed'),
    },
  };
}

async function chat(system: BenchSystem, content: string): Promise<void> {
  const messages = [{ role: 'user', content }];
  await post(system, '/v1/chat/completions', { model: CHAT_MODEL, messages, stream: true });
}

async function post(system: BenchSystem, path: string, body: object): Promise<string> {
  const answer = await fetch(system.baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${system.demo.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return answer.text();
}

function findTaskId(answer: string): string {
  const [id] = /task_[0-9A-Z]{26}/.exec(answer) ?? [];
  if (id === undefined) throw new Error(`a sample was not created: ${answer}`);
  return id;
}

async function untilStatus(em: Em, statuses: Readonly<Record<string, string>>): Promise<void> {
  const ids = JSON.stringify(Object.keys(statuses));
  let found: { id: string; status: string }[] = [];
  for (const until = Date.now() + DEADLINE_MS; Date.now() < until; await sleep(LOOK_EVERY_MS)) {
    found = await em.execute<typeof found>(sql`
      select id, status from task where id in (select jsonb_array_elements_text(${ids}::jsonb))`);
    if (found.every(({ id, status }) => status === statuses[id])) return;
  }
  throw new Error(`samples ended otherwise: ${JSON.stringify(found)}`);
}

async function findCallId(em: Em, userId: string, status: string): Promise<string> {
  const [row] = await em.execute<{ id: string }[]>(sql`
    select id from chat_call where user_id = ${userId} and status = ${status} order by id desc limit 1`);
  if (!row) throw new Error(`no call of the samples is ${status}`);
  return row.id;
}

// Every request that takes an Idempotency-Key, in a form that tests can repeat.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { makeCode } from '../administrators.ts';
import type { TestGateway, TestUser } from '../servers/gateway.ts';
import type { Answer } from './http.ts';
import { PNG_DATA_URI } from '../inputs.ts';
import { IMAGE_CREDITS, IMAGE_MODEL, orderImage, VIDEO_CREDITS, VIDEO_MODEL } from '../tasks.ts';
import { untilFinal } from '../until.ts';
import { makeVideo, upload, UPLOADS } from '../uploads.ts';

export interface Repeatable {
  /** Sends the request; with `other`, the same request with different content. */
  send(key: string, content?: 'same' | 'other'): Promise<Answer>;
  path: string;
  status: number;
}

/** Prepares a request of a user whose credits cover it once, or of the administrator `chief`. */
export type Prepare = (gateway: TestGateway, chief: TestUser) => Promise<Repeatable>;

/** Enough for one image in 1K after one picture, and not for two. */
const EDIT_CREDITS = 7;

const withKey = (key: string) => ({ 'idempotency-key': key });

export const REPEATABLE: Readonly<Record<string, Prepare>> = {
  'an image': async (gateway) => {
    const { key: caller } = await gateway.createUser(IMAGE_CREDITS);
    const path = '/v1/images/generations';
    const send: Repeatable['send'] = (key, content) =>
      caller.post(path, { model: IMAGE_MODEL, prompt: promptOf(content) }, withKey(key));
    return { send, path, status: 202 };
  },
  'a video': async (gateway) => {
    const { key: caller } = await gateway.createUser(VIDEO_CREDITS);
    const path = '/v1/videos/generations';
    const order = { model: VIDEO_MODEL, duration: 1, metadata: { resolution: '480p' } };
    const send: Repeatable['send'] = (key, content) =>
      caller.post(path, { ...order, prompt: promptOf(content) }, withKey(key));
    return { send, path, status: 202 };
  },
  'a video in OpenAI’s shape': async (gateway) => {
    const { key: caller } = await gateway.createUser(VIDEO_CREDITS);
    const path = '/v1/videos';
    const order = { model: VIDEO_MODEL, seconds: '1', resolution: '480p' };
    const send: Repeatable['send'] = (key, content) =>
      caller.post(path, { ...order, prompt: promptOf(content) }, withKey(key));
    return { send, path, status: 200 };
  },
  'an edited image': async (gateway) => {
    const { key: caller } = await gateway.createUser(EDIT_CREDITS);
    const path = '/v1/images/edits';
    const order = { model: IMAGE_MODEL, image: PNG_DATA_URI };
    const send: Repeatable['send'] = (key, content) =>
      caller.post(path, { ...order, prompt: promptOf(content) }, withKey(key));
    return { send, path, status: 202 };
  },
  'a task of the console': async (gateway) => {
    const { session } = await gateway.createUser(IMAGE_CREDITS);
    const path = '/api/tasks';
    const order = { mode: 'image', model: IMAGE_MODEL };
    const send: Repeatable['send'] = (key, content) =>
      session.post(path, { ...order, prompt: promptOf(content) }, withKey(key));
    return { send, path, status: 202 };
  },
  'a retry': async (gateway) => {
    const { session } = await gateway.createUser(IMAGE_CREDITS);
    const { id } = await orderImage(session, 'seconds=0 outcome=fail*1');
    await untilFinal(session, id);
    const path = `/api/tasks/${id}/retry`;
    const send: Repeatable['send'] = (key, content) =>
      session.post(`${path}${content === 'other' ? '?other=1' : ''}`, undefined, withKey(key));
    return { send, path, status: 202 };
  },
  'an upload': async (gateway) => {
    const { key: caller } = await gateway.createUser(0);
    const send: Repeatable['send'] = (key, content) =>
      upload(caller, makeVideo(content === 'other' ? 101 : 100), { headers: withKey(key) });
    return { send, path: UPLOADS, status: 201 };
  },
  'a redemption': async (gateway, chief) => {
    const { session } = await gateway.createUser(0);
    const { code } = await makeCode(chief);
    const { code: other } = await makeCode(chief);
    const path = '/api/redeem';
    const send: Repeatable['send'] = (key, content) =>
      session.post(path, { code: content === 'other' ? other : code }, withKey(key));
    return { send, path, status: 200 };
  },
  'a grant': async (gateway, chief) => {
    const { id } = await gateway.createUser(0);
    const path = `/api/admin/users/${id}/grants`;
    const send: Repeatable['send'] = (key, content) =>
      chief.session.post(path, { credits: content === 'other' ? 6 : 5, note: 'Sorry' }, withKey(key));
    return { send, path, status: 201 };
  },
  'a redeem code': async (_gateway, chief) => {
    const path = '/api/admin/redeem-codes';
    const send: Repeatable['send'] = (key, content) =>
      chief.session.post(path, { label: 'Spring', credits: content === 'other' ? 6 : 5 }, withKey(key));
    return { send, path, status: 201 };
  },
};

/** Counts the effects of all these requests, and their audit entries and keys. */
export async function countEffects(gateway: TestGateway): Promise<Record<string, number>> {
  const [counts] = await gateway.em().execute<Record<string, number>[]>(sql`
    select (select count(*)::int from task) as tasks,
           (select count(*)::int from task_event where event in ('created', 'retried')) as attempts,
           (select count(*)::int from ledger_transfer where kind in ('grant', 'redeem')) as additions,
           (select count(*)::int from redemption) as redemptions,
           (select count(*)::int from redeem_code) as codes,
           (select count(*)::int from upload) as uploads,
           (select count(*)::int from audit_entry) as "auditEntries",
           (select count(*)::int from idempotency_key) as keys`);
  return counts ?? {};
}

function promptOf(content: 'same' | 'other' = 'same'): string {
  return `${content} cat [[sandbox seconds=0]]`;
}

/** Whether an answer was told again rather than worked for. */
export function isReplay({ headers }: Answer): boolean {
  return headers.get('idempotent-replayed') === 'true';
}

/** Expects the answer of the first request again, except that a made redeem code is shown once. */
export function expectReplayOf(first: Answer, repeat: Answer): void {
  expect(isReplay(first)).to.equal(false);
  expect(isReplay(repeat), JSON.stringify(repeat.body)).to.equal(true);
  expect(repeat.status).to.equal(first.status);
  for (const name of ['location', 'retry-after', 'cache-control', 'content-type'])
    expect(repeat.headers.get(name), name).to.equal(first.headers.get(name));
  const { code, ...rest } = first.body.data ?? {};
  expect(repeat.body).to.deep.equal(
    code === undefined ? first.body : { data: { ...rest, codeShownOnce: true } },
  );
}

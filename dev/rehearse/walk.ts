// Asks every route of the API once, through the proxy, as an operator, a user and a program would.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { toFile } from 'openai';
import { encodePng } from '../../sandbox/png.ts';
import { ALL_ROUTES, type Call, type Callers } from './callers.ts';
import { secureAccount, type Login } from './secure-account.ts';

/** What later steps go on with. */
export interface Account {
  apiKey: string;
  session: Call;
  administrator: Call;
}

export interface WalkResult {
  account: Account;
  /** What was shown, a sentence each. */
  proven: readonly string[];
  /** Routes that were not asked. */
  missed: readonly string[];
}

interface Task {
  status: string;
  creditsCharged?: number;
}

const PASSWORD = 'a long sentence for rehearsals';
const IMAGE = { model: 'gpt-image-2', prompt: 'a lighthouse at dusk [[sandbox seconds=0]]' };
const VIDEO = { model: 'grok-imagine-video', prompt: 'waves [[sandbox seconds=1]]', duration: 1 };
const CHAT_MODEL = 'gpt-6-luna';
/** Twice of them, by a grant and by a code, pay for the walk and for all drills. */
const CREDITS = 10_000;
const WAIT_MS_MAX = 120_000;
const LOOK_EVERY_MS = 300;
/** What begins as a video does; enough for an upload. */
export const MP4 = Buffer.concat([
  Buffer.from('0000001c667479706d703432000000006d703432', 'hex'),
  Buffer.alloc(2_000, 7),
]);

export async function walk(callers: Callers, first: Login): Promise<WalkResult> {
  const administrator = await callers.logIn(first.email, first.password);
  await administrator('POST', '/api/verify', { body: { method: 'password', code: first.password } });
  const user = { email: `user-${randomUUID()}@example.com`, password: PASSWORD };
  const made = await administrator('POST', '/api/admin/users', { body: user });
  const userId = String(made.body.data.id);
  const code = await administrateCodes(administrator);
  await administrateUsers(administrator, userId);
  const session = await callers.logIn(user.email, user.password);
  await session('POST', '/api/verify', { body: { method: 'password', code: user.password } });
  await session('POST', '/api/redeem', { body: { code } });
  const apiKey = await keepKeys(session);
  const key = callers.withKey(apiKey);
  const proven = [
    ...(await useOpenai(callers, apiKey)),
    ...(await orderOnV1(callers, key)),
    ...(await orderInConsole(session)),
  ];
  await useUploads(key, '/v1');
  await useUploads(session, '/api');
  await useWebhooks(key, '/v1');
  await useWebhooks(session, '/api');
  await readConsole(callers, session);
  await readAdministration(administrator, userId);
  const secured = await secureAccount(callers, session, user);
  const missed = ALL_ROUTES.filter((route) => !callers.asked.has(route));
  return { account: { apiKey, session: secured, administrator }, proven, missed };
}

/** Waits until the task has the status, or has ended otherwise, which throws. */
export async function untilStatus<Task extends { status: string }>(
  read: () => Promise<Task>,
  status: string,
): Promise<Task> {
  const until = Date.now() + WAIT_MS_MAX;
  for (;;) {
    const task = await read();
    if (task.status === status) return task;
    if (['completed', 'failed', 'cancelled'].includes(task.status) || Date.now() > until)
      throw new Error(`a task is ${task.status} instead of ${status}: ${JSON.stringify(task)}`);
    await sleep(LOOK_EVERY_MS);
  }
}

async function administrateCodes(administrator: Call): Promise<string> {
  const path = '/api/admin/redeem-codes';
  const body = { label: 'rehearsal', credits: CREDITS, maxUses: 3, expiresAt: '2035-01-31T12:00:00Z' };
  const { body: created } = await administrator('POST', path, { body });
  const { body: other } = await administrator('POST', path, { body: { ...body, label: 'unused' } });
  await administrator('GET', path);
  await administrator('GET', `${path}/${created.data.id}`);
  await administrator('PATCH', `${path}/${other.data.id}`);
  return String(created.data.code);
}

async function administrateUsers(administrator: Call, id: string): Promise<void> {
  const path = `/api/admin/users/${id}`;
  await administrator('GET', '/api/admin/users');
  await administrator('GET', path);
  await administrator('PATCH', path, { body: { disabled: false } });
  await administrator('POST', `${path}/grants`, { body: { credits: CREDITS, note: 'Welcome' } });
}

async function keepKeys(session: Call): Promise<string> {
  const { body } = await session('POST', '/api/keys', { body: { name: 'server' } });
  const { body: small } = await session('POST', '/api/keys', { body: { name: 'small', quota: 5 } });
  await session('GET', '/api/keys');
  await session('PATCH', `/api/keys/${small.data.id}`, { body: { quota: 4 } });
  await session('DELETE', `/api/keys/${small.data.id}`);
  return String(body.data.key);
}

/** What OpenAI's own client can do here. */
async function useOpenai(callers: Callers, apiKey: string): Promise<string[]> {
  const client = callers.openai(apiKey);
  const messages = [{ role: 'user' as const, content: 'Say hello.' }];
  const whole = await client.chat.completions.create({ model: CHAT_MODEL, messages });
  const stream = await client.chat.completions.create({ model: CHAT_MODEL, messages, stream: true });
  let pieces = 0;
  for await (const chunk of stream) pieces += chunk.choices.length;
  await client.responses.create({ model: CHAT_MODEL, input: 'Say hello.' });
  for await (const model of client.models.list()) if (model.id === CHAT_MODEL) break;
  await client.models.retrieve(CHAT_MODEL);
  const wait = { headers: { prefer: 'wait=60' } };
  const image = await client.images.generate(IMAGE, wait);
  const frame = encodePng({ width: 512, height: 512, hue: 30, transparent: false });
  const picture = await toFile(frame, 'frame.png', { type: 'image/png' });
  await client.images.edit({ ...IMAGE, image: picture }, wait);
  const video = await client.videos.create({
    ...{ model: VIDEO.model, prompt: VIDEO.prompt, seconds: '4', size: '1280x720' },
  });
  await untilStatus(() => client.videos.retrieve(video.id), 'completed');
  for await (const each of client.videos.list()) if (each.id === video.id) break;
  const content = await (await client.videos.downloadContent(video.id)).arrayBuffer();
  await client.videos.delete(video.id);
  const url = image.data?.[0]?.url ?? '';
  const file = await callers.raw(url);
  if (!file.ok) throw new Error(`the link of an image answers ${file.status}`);
  const bytes = (await file.arrayBuffer()).byteLength;
  const text = whole.choices[0]?.message.content?.length ?? 0;
  return [
    `OpenAI's client talked to \`/v1\` over https: a chat of ${text} characters, a stream of ${pieces} pieces.`,
    `An image of ${bytes} bytes came out of the bucket through its signed link, a video of ${content.byteLength} bytes.`,
  ];
}

async function orderOnV1(callers: Callers, key: Call): Promise<string[]> {
  const before = (await key('GET', '/v1/balance')).body.data;
  await key('POST', '/v1/estimates', { body: { mode: 'image', ...IMAGE } });
  const { body: image } = await key('POST', '/v1/images/generations', { body: IMAGE });
  const read = async (): Promise<Task> => (await key('GET', `/v1/images/tasks/${image.id}`)).body;
  const done = await untilStatus(read, 'completed');
  const { body: video } = await key('POST', '/v1/videos/generations', { body: VIDEO });
  const watch = async (): Promise<Task> => (await key('GET', `/v1/videos/tasks/${video.data.id}`)).body.data;
  await untilStatus(watch, 'completed');
  await key('GET', `/v1/videos/generations/${video.data.id}`);
  await key('GET', '/api/usage/token');
  const after = (await key('GET', '/v1/balance')).body.data;
  if (!(after.balance < before.balance) || after.reserved !== 0)
    throw new Error(`a charged image leaves ${JSON.stringify({ before, after })}`);
  const spent = before.balance - after.balance;
  const document = await callers.raw('/openapi.json');
  if (!document.ok) throw new Error(`the document answers ${document.status}`);
  return [
    `An image was ordered, made and charged with ${done.creditsCharged} credits; with a video the balance fell by ${spent}.`,
  ];
}

async function orderInConsole(session: Call): Promise<string[]> {
  await session('POST', '/api/estimates', { body: { mode: 'image', ...IMAGE } });
  const stuck = { mode: 'video', ...VIDEO, prompt: 'waves [[sandbox outcome=stuck]]' };
  const { body: created } = await session('POST', '/api/tasks', { body: stuck });
  const reader = (id: string) => async (): Promise<Task> =>
    (await session('GET', `/api/tasks/${id}`)).body.data;
  await untilStatus(reader(created.data.id), 'in_progress');
  await session('DELETE', `/api/tasks/${created.data.id}`);
  await untilStatus(reader(created.data.id), 'cancelled');
  const failing = { mode: 'video', ...VIDEO, prompt: 'waves [[sandbox seconds=0 outcome=fail]]' };
  const { body: failed } = await session('POST', '/api/tasks', { body: failing });
  await untilStatus(reader(failed.data.id), 'failed');
  await session('POST', `/api/tasks/${failed.data.id}/retry`);
  await session('GET', `/api/tasks/${failed.data.id}/timeline`);
  await session('GET', '/api/tasks');
  return ['A running video was cancelled, a failed one retried.'];
}

async function useUploads(call: Call, surface: string): Promise<void> {
  const form = new FormData();
  form.append('file', new Blob([MP4], { type: 'video/mp4' }), 'clip.mp4');
  const { body } = await call('POST', `${surface}/uploads/videos`, { body: form });
  const id = String(body.data?.id ?? body.id);
  await call('GET', `${surface}/uploads/videos`);
  await call('GET', `${surface}/uploads/videos/${id}`);
  await call('DELETE', `${surface}/uploads/videos/${id}`);
}

/** The receiver has no address here: what counts is that the delivery is tried, listed and sent again. */
const WEBHOOK = { url: 'https://receiver.example.com/hooks', events: ['task.completed'] };

async function useWebhooks(call: Call, surface: string): Promise<void> {
  const path = `${surface}/webhooks`;
  const { body } = await call('POST', path, { body: WEBHOOK });
  const own = `${path}/${body.data?.id ?? body.id}`;
  await call('GET', path);
  await call('GET', own);
  await call('PATCH', own, { body: { disabled: false } });
  await call('POST', `${own}/rotate-secret`);
  await call('POST', `${own}/test`);
  const { body: listed } = await call('GET', `${own}/deliveries`);
  await call('POST', `${own}/deliveries/${listed.data[0].id}/resend`);
  await call('DELETE', own);
}

async function readConsole(callers: Callers, session: Call): Promise<void> {
  const paths = [
    'balance',
    'models',
    'console',
    'usage',
    'usage/summary',
    'auth/me',
    'auth/sessions',
    'verify',
  ];
  for (const path of [...paths, 'security-events']) await session('GET', `/api/${path}`);
  for (const path of ['/console/', '/docs']) {
    const page = await callers.raw(path);
    if (!page.ok) throw new Error(`${path} answers ${page.status}`);
  }
  await session('GET', '/api/events');
}

async function readAdministration(administrator: Call, userId: string): Promise<void> {
  for (const part of ['keys', 'sessions', 'ledger-entries'])
    await administrator('GET', `/api/admin/users/${userId}/${part}`);
  const { body } = await administrator('GET', '/api/admin/tasks');
  await administrator('GET', `/api/admin/tasks/${body.data[0].id}`);
  const { body: made } = await administrator('POST', '/api/webhooks', { body: WEBHOOK });
  await administrator('GET', '/api/admin/webhooks');
  await administrator('GET', `/api/admin/webhooks/${made.data.id}/deliveries`);
  await administrator('DELETE', `/api/webhooks/${made.data.id}`);
  const { body: health } = await administrator('GET', '/api/admin/health');
  await administrator('GET', '/api/admin/audit-entries');
  await administrator('GET', '/api/admin/usage/summary');
  await administrator('GET', '/api/admin/usage/failures');
  if (JSON.stringify(health).includes('"down"')) throw new Error(`health: ${JSON.stringify(health)}`);
}

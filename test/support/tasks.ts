// Orders tasks, and reads their money and submissions from the database.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import type { TestGateway, TestUser } from './servers/gateway.ts';
import type { Actor } from './http/http.ts';
import { countSubmissions, readJournal } from './servers/sandbox.ts';
import { until } from './until.ts';

export const IMAGE_MODEL = 'gpt-image-2';
export const IMAGE_CREDITS = 4;
export const VIDEO_MODEL = 'grok-imagine-video';
/** Price of one second of video in 480p. */
export const VIDEO_CREDITS = 10;

let orders = 0;

/** A word that is in one prompt only, by which its requests are found in the sandbox's journal. */
export function uniqueWord(): string {
  orders += 1;
  return `order${process.pid}x${orders}x`;
}

export interface OrderedTask {
  id: string;
  /** Finds its requests in the sandbox's journal. */
  word: string;
}

/** Orders a 1K image; `directive` is for the sandbox, as in `seconds=3 outcome=fail`. */
export function orderImage(session: Actor, directive = 'seconds=0'): Promise<OrderedTask> {
  return order(session, directive, { mode: 'image', model: IMAGE_MODEL });
}

/** Orders one second of video in 480p. */
export function orderVideo(session: Actor, directive = 'seconds=0'): Promise<OrderedTask> {
  return order(session, directive, { mode: 'video', model: VIDEO_MODEL, duration: 1, resolution: '480p' });
}

async function order(session: Actor, directive: string, fields: object): Promise<OrderedTask> {
  const word = uniqueWord();
  const prompt = `${word} ${directive === '' ? '' : `[[sandbox ${directive}]]`}`;
  const { status, body } = await session.post('/api/tasks', { ...fields, prompt });
  expect(status, JSON.stringify(body)).to.equal(202);
  return { id: body.data.id, word };
}

export interface ReservationRow {
  attempt: number;
  state: 'open' | 'charged' | 'released';
  /** Credits; null unless charged. */
  charged: number | null;
}

/** The reservations of a task, by attempt. */
export async function readReservations(gateway: TestGateway, taskId: string): Promise<ReservationRow[]> {
  return gateway.em().execute<ReservationRow[]>(sql`
    select attempt, state, (charged / 1000000)::int as charged from task_attempt
    where task_id = ${taskId} order by attempt`);
}

export async function countCharges(gateway: TestGateway, taskId: string): Promise<number> {
  const [row] = await gateway.em().execute<{ count: number }[]>(sql`
    select count(*)::int as count from ledger_transfer where task_id = ${taskId} and kind = 'charge'`);
  return row?.count ?? 0;
}

/** The timeline of a task as its owner reads it: the names of its events. */
export async function readEvents(session: Actor, taskId: string): Promise<string[]> {
  const { body } = await session.get(`/api/tasks/${taskId}/timeline`);
  return body.data.map(({ event }: { event: string }) => event);
}

/** Waits until the credits of the task's first attempt are reserved. */
export async function untilReserved(session: Actor, taskId: string): Promise<void> {
  await until(`${taskId} is reserved`, async () => (await readEvents(session, taskId)).includes('reserved'));
}

export async function untilSubmitted(gateway: TestGateway, { word }: OrderedTask): Promise<void> {
  await until(`${word} was handed over`, async () => (await countSubmissions(gateway.sandboxUrl, word)) > 0);
}

export async function untilPolled(gateway: TestGateway, { word }: OrderedTask): Promise<void> {
  await until(`${word} was looked at`, async () => {
    const entries = await readJournal(gateway.sandboxUrl, word);
    return entries.some(({ operation }) => operation === 'poll');
  });
}

export async function readAvailable(user: TestUser): Promise<{ balance: number; reserved: number }> {
  const { body } = await user.session.get('/api/balance');
  return body.data;
}

interface EndedTask {
  status: string;
  errorCode: string | null;
  creditsCharged: number;
  creditsEstimate: number;
}

/**
 * What holds for every task whatever died meanwhile: charged once or not at all, submitted once, or, where
 * it cannot be known whether the vendor took it, neither charged nor submitted a second time.
 */
export async function expectOneChargeAndSubmission(
  gateway: TestGateway,
  user: TestUser,
  task: OrderedTask,
): Promise<EndedTask> {
  const { body } = await user.session.get(`/api/tasks/${task.id}`);
  const ended: EndedTask = body.data;
  const place = `${task.id} (${ended.status}, ${ended.errorCode})`;
  const submissions = await countSubmissions(gateway.sandboxUrl, task.word);
  const charges = await countCharges(gateway, task.id);
  if (ended.errorCode === 'upstream_outcome_unknown') expect(submissions, place).to.be.at.most(1);
  else expect(submissions, place).to.equal(1);
  expect(charges, place).to.equal(ended.status === 'completed' ? 1 : 0);
  expect(ended.creditsCharged, place).to.equal(ended.status === 'completed' ? ended.creditsEstimate : 0);
  const reservations = await readReservations(gateway, task.id);
  expect(
    reservations.map(({ state }) => state),
    place,
  ).to.deep.equal([ended.status === 'completed' ? 'charged' : 'released']);
  return ended;
}

// Keys with limits: ordering images with them, and what their rows count.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import type { Answer } from './http/http.ts';
import type { TestGateway, TestUser } from './servers/gateway.ts';
import { IMAGE_MODEL, untilReserved } from './tasks.ts';
import { untilFinal } from './until.ts';

export const IMAGES = '/v1/images/generations';
export const CREDIT = 1_000_000n;
export const QUICK = '[[sandbox seconds=0]]';
export const STUCK = '[[sandbox outcome=stuck]]';

/** Verifies the user's session and changes the limits of the key. */
export async function change(user: TestUser, limits: object): Promise<void> {
  await user.verify();
  const { status, body } = await user.session.patch(`/api/keys/${user.keyId}`, limits);
  expect(status, JSON.stringify(body)).to.equal(200);
}

/** Creates a user whose key has these limits. */
export async function createLimitedUser(gateway: TestGateway, limits: object): Promise<TestUser> {
  const user = await gateway.createUser();
  await change(user, limits);
  return user;
}

export function order(user: TestUser, prompt = QUICK, fields: object = {}): Promise<Answer> {
  return user.key.post(IMAGES, { model: IMAGE_MODEL, prompt, ...fields });
}

/** Orders images; resolves to the id of the accepted task. */
export async function ordered(user: TestUser, prompt = QUICK, fields: object = {}): Promise<string> {
  const { status, body } = await order(user, prompt, fields);
  expect(status, JSON.stringify(body)).to.equal(202);
  return body.id;
}

/** Orders images; resolves to the id of the task when its credits are reserved, no longer only earmarked. */
export async function reservedTask(user: TestUser, prompt: string, fields: object): Promise<string> {
  const id = await ordered(user, prompt, fields);
  await untilReserved(user.session, id);
  return id;
}

/** Orders images; resolves to the id of the task when it has ended. */
export async function ended(user: TestUser, prompt = QUICK, fields: object = {}): Promise<string> {
  const id = await ordered(user, prompt, fields);
  await untilFinal(user.session, id);
  return id;
}

export interface KeyCounters {
  used: number;
  reserved: number;
  dayUsed: number;
  dayReserved: number;
}

/** What the row of the user's key has counted, in credits. */
export async function readCounters(
  gateway: TestGateway,
  { keyId }: TestUser,
): Promise<KeyCounters | undefined> {
  const [row] = await gateway.em().execute<KeyCounters[]>(sql`
    select (used / 1000000)::int as used, (reserved / 1000000)::int as reserved,
           (day_used / 1000000)::int as "dayUsed", (day_reserved / 1000000)::int as "dayReserved"
    from key_spending where key_id = ${keyId}`);
  return row;
}

export function counters(
  used: number,
  reserved: number,
  dayUsed = used,
  dayReserved = reserved,
): KeyCounters {
  return { used, reserved, dayUsed, dayReserved };
}

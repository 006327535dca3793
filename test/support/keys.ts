// API keys as the console makes and lists them, and calls with such a key.
import { expect } from 'chai';
import type { Answer } from './http/http.ts';
import type { TestGateway, TestUser } from './servers/gateway.ts';

export const KEYS = '/api/keys';

/** Verifies the user's session and creates a key; resolves to its entry with the key itself. */
export async function createKey(user: TestUser, fields: object = {}): Promise<Answer['body']> {
  await user.verify();
  const { status, body } = await user.session.post(KEYS, { name: 'Build server', ...fields });
  expect(status, JSON.stringify(body)).to.equal(201);
  return body.data;
}

/** One page of a user's keys. */
export async function listKeys(user: TestUser, query = ''): Promise<Answer['body']> {
  return (await user.session.get(`${KEYS}${query}`)).body;
}

/** The entry of one key; `undefined` when it is not among the user's 100 newest. */
export async function findKey(user: TestUser, id: string): Promise<Answer['body']> {
  return (await listKeys(user, '?limit=100')).data.find((entry: { id: string }) => entry.id === id);
}

export function callWithKey(gateway: TestGateway, key: string, path = '/v1/models'): Promise<Answer> {
  return gateway.anonymous.get(path, { authorization: `Bearer ${key}` });
}

// OpenAI's client for Node, pointed at a gateway.
import OpenAI from 'openai';
import type { TestGateway, TestUser } from '../servers/gateway.ts';

/** A client with this user's key that does not try again by itself, and the addresses it has asked. */
export function openClient(
  gateway: TestGateway,
  user: TestUser,
  options: { maxRetries?: number; apiKey?: string } = {},
): { client: OpenAI; requests: unknown[] } {
  const requests: unknown[] = [];
  const client = new OpenAI({
    apiKey: user.apiKey,
    baseURL: `${gateway.baseUrl}/v1`,
    maxRetries: 0,
    fetch: (url, init) => {
      requests.push(url);
      return fetch(url, init);
    },
    ...options,
  });
  return { client, requests };
}

/** What a call was rejected with; `no error` when it was not. */
export function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'no error',
    (error: unknown) => error,
  );
}

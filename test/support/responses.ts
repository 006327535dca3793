// A catalogue with a model whose upstream knows chat completions only, and calls of the Responses API.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHAT_MODEL, say } from './chat.ts';
import type { createCleanup } from './cleanup.ts';
import type { TestUser } from './servers/gateway.ts';

/** The same model as CHAT_MODEL at the same price, asked by chat completions. */
export const TRANSLATED_MODEL = 'luna-by-chat';
export const RESPONSES = '/v1/responses';

/** Writes the catalogue and returns the environment that chooses it. */
export function catalogWithTranslatedModel(cleanup: ReturnType<typeof createCleanup>): {
  SVC_CATALOG: string;
} {
  const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-responses-'));
  cleanup.later(async () => rmSync(folder, { recursive: true, force: true }));
  const { models, ...rest } = JSON.parse(readFileSync('catalog.json', 'utf8'));
  const luna = models.find(({ id }: { id: string }) => id === CHAT_MODEL);
  const upstreams = [{ family: 'openai', upstreamModel: CHAT_MODEL }];
  const file = join(folder, 'catalog.json');
  const own = { ...luna, id: TRANSLATED_MODEL, upstreams };
  writeFileSync(file, JSON.stringify({ ...rest, models: [...models, own] }));
  return { SVC_CATALOG: file };
}

/** The input that says the same as the messages of `say`. */
export function inputOf(directive = '', word = ''): string {
  return say(directive, word)[0]?.content ?? '';
}

/** Sends a call without a client. */
export function respond(user: TestUser, fields: object, headers?: Record<string, string>) {
  return user.key.post(RESPONSES, { model: CHAT_MODEL, input: inputOf(), ...fields }, headers);
}

// GET /api/usage/token: reads what an API key may spend, for its holder, in the format of other gateways.
import { readKeyUsage } from '../../db/keys/key-usage.ts';
import type { RequestContext, KeyCaller, Reply } from '../context.ts';
import { presentTokenUsage } from './views.ts';

export async function readTokenUsage({ em, caller }: RequestContext<KeyCaller>): Promise<Reply> {
  const usage = await readKeyUsage(em, caller.key.id);
  const data = presentTokenUsage(caller.key, usage);
  return { status: 200, body: { code: true, message: 'ok', data } };
}

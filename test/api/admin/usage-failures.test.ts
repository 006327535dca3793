// GET /api/admin/usage/failures: what failed, by code, at the time at which the summary counts it.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { makeId } from '../../../db/ids.ts';
import { createAdministrator } from '../../support/administrators.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { orderOf } from '../../support/orders.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { addPastCall, summarise } from '../../support/usage.ts';

const PATH = '/api/admin/usage/failures';
const IN_MAY = { from: '2026-05-01T00:00:00Z', to: '2026-06-01T00:00:00Z' };

describe('GET /api/admin/usage/failures', () => {
  let gateway: TestGateway;
  let chief: TestUser;
  let user: TestUser;
  let other: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    chief = await createAdministrator(gateway, ['usage.read']);
    [user, other] = [await gateway.createUser(), await gateway.createUser()];
    await failVideo(user, '2026-05-02T12:00:00Z', 'upstream_error');
    await failVideo(other, '2026-05-31T23:59:59Z', 'upstream_error');
    await failVideo(user, '2026-06-01T00:00:00Z', 'upstream_timeout');
    await failCall(user, '2026-05-03T12:00:00Z', 'upstream_error');
    await failCall(other, '2026-05-04T12:00:00Z', 'content_rejected');
    await addPastCall(gateway.em(), { userId: user.id, at: '2026-05-05T12:00:00Z', charge: 1 });
  });
  after(() => gateway.stop());

  const failVideo = async ({ id: userId }: TestUser, at: string, code: string): Promise<void> => {
    await gateway.em().execute(sql`
      insert into task (id, user_id, mode, model, family, adapter, upstream_model, status, error_code, ordered, price,
        credits_estimate, credits_charged, request_payload, created_at, completed_at)
      values (${makeId('task', Date.parse(at))}, ${userId}, 'video', 'grok-imagine-video', 'grok', 'a', 'u', 'failed',
        ${code}, ${JSON.stringify(orderOf({ mode: 'video', seconds: 4 }))}, '{}', 1, 0, '{}', ${at}, ${at})`);
  };
  const failCall = async ({ id: userId }: TestUser, at: string, code: string): Promise<void> => {
    await gateway.em().execute(sql`
      insert into chat_call (user_id, id, key_id, request_id, model, stream, status, error_code, credits_reserved, day,
        lease_until, billing_basis, latency_ms, tried, created_at, settled_at)
      values (${userId}, ${makeId('call', Date.parse(at))}, 'key_none', 'r', 'gpt-6-luna', false, 'failed', ${code}, 1,
        ${at}, ${at}, 'none', 1, '[]', ${at}, ${at})`);
  };
  const read = async (query: Record<string, string>) => {
    const { status, body } = await chief.session.get(`${PATH}?${new URLSearchParams(query).toString()}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.data;
  };

  it('counts tasks and calls by code, most frequent first, as many as the summary', async () => {
    const codes = [
      { code: 'upstream_error', tasks: 2, calls: 1 },
      { code: 'content_rejected', tasks: 0, calls: 1 },
    ];
    expect(await read(IN_MAY)).to.deep.equal(codes);
    const { total } = await summarise(chief.session, IN_MAY, '/api/admin/usage/summary');
    expect(total.failed).to.equal(4);
  });

  it('counts those of one user, and of no other period', async () => {
    expect(await read({ ...IN_MAY, userId: user.id })).to.deep.equal([
      { code: 'upstream_error', tasks: 1, calls: 1 },
    ]);
    expect(await read({ from: IN_MAY.to, to: '2026-06-02T00:00:00Z' })).to.deep.equal([
      { code: 'upstream_timeout', tasks: 1, calls: 0 },
    ]);
    expect(await read({ from: '2026-04-01T00:00:00Z', to: IN_MAY.from })).to.deep.equal([]);
  });

  it('refuses a period that is none, or too long', async () => {
    const refused = async (query: Record<string, string>) =>
      expectError(
        await chief.session.get(`${PATH}?${new URLSearchParams(query).toString()}`),
        400,
        'invalid_value',
      );
    await refused({ from: IN_MAY.to, to: IN_MAY.from });
    await refused({ from: '2020-01-01T00:00:00Z', to: IN_MAY.to });
  });
});

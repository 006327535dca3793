// Removal by age: what is due goes in batches, says so to its reader, and leaves the money sound.
import { Readable } from 'node:stream';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createRetention } from '../../activities/retention.ts';
import { COMMAND_LINE, writeAuditEntry } from '../../db/audit-log.ts';
import { findViolations } from '../../db/ledger/invariants.ts';
import { refundOnce } from '../support/credits.ts';
import { readMetricsSnapshot } from '../../db/metrics-snapshot.ts';
import { hideResults } from '../../db/retention/results.ts';
import { beginRemoval } from '../../db/retention/progress.ts';
import { addEnds, addTransfers } from '../../db/usage/rollup.ts';
import type { Retention } from '../../domain/retention.ts';
import { createAdministrator } from '../support/administrators.ts';
import { expectError } from '../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { IMAGE_MODEL, orderImage } from '../support/tasks.ts';
import { addPastCall } from '../support/usage.ts';
import { untilFinal } from '../support/until.ts';

const DAY_MS = 86_400_000;
const NEVER: Retention = { resultDays: 0, taskDays: 0, callDays: 0, auditDays: 0 };

describe('removing what is old', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    // The clock of these tests is ahead of the database's.
    await gateway.em().execute(sql`update retention_floor set kept = interval '-100 days'`);
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser(100);
  });
  afterEach(() => gateway.expectSoundMoney());

  /** Removes as it would be removed so many days from now. */
  const remove = async (retention: Partial<Retention>, inDays = 0) => {
    await addTransfers(gateway.em(), '');
    await addEnds(gateway.em(), new Date(), Infinity);
    const { database, storage } = gateway.services;
    const clock = async () => Date.now() + inDays * DAY_MS;
    return createRetention(
      { database, storage, retention: { ...NEVER, ...retention } },
      clock,
    ).removeExpired();
  };
  const make = async (): Promise<string> => {
    const { id } = await orderImage(owner.session);
    await untilFinal(owner.session, id);
    return id;
  };
  const read = async (id: string) => (await owner.session.get(`/api/tasks/${id}`)).body.data;
  const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

  it('removes nothing that is younger than its setting, and nothing at all by a setting of 0', async () => {
    const id = await make();
    expect(await remove({ resultDays: 30, taskDays: 30, callDays: 30, auditDays: 30 }, 29)).to.deep.equal({
      call: 0,
      audit_entry: 0,
      result: 0,
      task: 0,
    });
    expect(await remove({}, 30_000)).to.deep.equal({});
    expect((await read(id)).outputUrl).to.be.a('string');
  });

  it('removes the files of a result, and the task says when', async () => {
    const id = await make();
    const { outputUrl, outputs } = await read(id);
    expect((await fetch(outputUrl)).status).to.equal(200);
    expect((await remove({ resultDays: 30 }, 31)).result).to.be.at.least(1);
    const expired = await read(id);
    expect(expired).to.include({ status: 'completed', outputUrl: null, creditsCharged: 4 });
    expect(expired.outputs).to.deep.equal([]);
    expect(Date.parse(expired.resultExpiredAt)).to.be.closeTo(Date.now(), 60_000);
    for (const url of [outputUrl, outputs[0].previewUrl]) expect((await fetch(url)).status).to.equal(404);
    const byKey = await owner.key.get(`/v1/images/tasks/${id}`);
    expect(byKey.body).to.include({ status: 'completed', outputUrl: null });
    const chief = await createAdministrator(gateway);
    expect((await chief.session.get(`/api/admin/tasks/${id}`)).body.data).to.include({
      outputUrl: null,
      resultExpiredAt: expired.resultExpiredAt,
    });
  });

  it('removes with a result what another attempt of its task had stored', async () => {
    const id = await make();
    const leftover = `results/${id}/2/0.png`;
    const outputs = JSON.stringify([{ key: leftover, contentType: 'image/png', bytes: 1 }]);
    await gateway.services.storage.write(leftover, Readable.from(['x']), { contentType: 'image/png' });
    await gateway.em().execute(sql`
      insert into submission (task_id, attempt, state, family, outputs)
      select task_id, 2, 'succeeded', family, ${outputs}::jsonb from submission where task_id = ${id}`);
    await remove({ resultDays: 30 }, 31);
    expect(await gateway.services.storage.size(leftover)).to.equal(null);
  });

  it('finishes what a crash left between hiding a result and forgetting it', async () => {
    const id = await make();
    const later = new Date(Date.now() + DAY_MS);
    await beginRemoval(gateway.em(), 'result', later, 'task_');
    const [due] = await hideResults(gateway.em(), later, 100);
    const key = due?.outputs[0]?.key ?? '';
    expect(await read(id)).to.include({ outputUrl: null });
    expect(await gateway.services.storage.size(key)).to.be.a('number');
    expect(await remove({ resultDays: 1 }, 2)).to.include({ result: 1 });
    expect(await gateway.services.storage.size(key)).to.equal(null);
  });

  it('removes nothing too early on a worker whose clock was set ahead', async () => {
    const id = await make();
    const { database, storage } = gateway.services;
    const { removeExpired } = createRetention({
      ...{ database, storage },
      retention: { ...NEVER, resultDays: 30, taskDays: 30 },
    });
    const { now } = Date;
    Date.now = () => now() + 31 * DAY_MS;
    const removed = await removeExpired().finally(() => (Date.now = now));
    expect(removed).to.deep.equal({ result: 0, task: 0 });
    expect((await read(id)).outputUrl).to.be.a('string');
  });

  it('removes tasks with all that belongs to them, also what an attempt left in the storage', async () => {
    const id = await make();
    const leftover = `results/${id}/1/9.png`;
    await gateway.services.storage.write(leftover, Readable.from(['x']), { contentType: 'image/png' });
    await remove({ resultDays: 1 }, 2);
    await gateway.em().execute(sql`
      update submission set outputs = ${JSON.stringify([{ key: leftover, contentType: 'image/png', bytes: 1 }])}::jsonb
      where task_id = ${id}`);
    expect((await remove({ taskDays: 1 }, 2)).task).to.be.at.least(1);
    expectError(await owner.session.get(`/api/tasks/${id}`), 404, 'task_not_found');
    expect(await gateway.services.storage.size(leftover)).to.equal(null);
    for (const table of ['task_event', 'task_request', 'submission'])
      expect(
        await gateway.em().execute(sql`select 1 from ${sql.ref(table)} where task_id = ${id}`),
        table,
      ).to.deep.equal([]);
    const ledger = (await owner.session.get('/api/balance?includeLedger=1')).body.data.ledger;
    expect(ledger[0]).to.include({ type: 'charge', amount: -4, taskId: id });
  });

  it('keeps a refund possible after its task is gone', async () => {
    const id = await make();
    await remove({ taskDays: 1 }, 2);
    const task = { taskId: id, attempt: 1 };
    const given = await refundOnce(gateway.em(), {
      ...task,
      amount: 1_000_000n,
      idempotencyKey: id,
      description: 'Sorry',
    });
    expect(given?.balance).to.equal(97_000_000n);
    const ledger = (await owner.session.get('/api/balance?includeLedger=1')).body.data.ledger;
    expect(ledger[0]).to.include({ type: 'refund', amount: 1, model: IMAGE_MODEL });
  });

  it('removes old calls, in rounds of any number, and their money stays sound', async () => {
    const young = daysAgo(89);
    for (const at of [daysAgo(91), daysAgo(100), young])
      await addPastCall(gateway.em(), {
        ...{ userId: owner.id, at, charge: 1_000_000, loss: 5 },
        keyId: owner.keyId,
      });
    const rounds = await Promise.all([remove({ callDays: 90 }), remove({ callDays: 90 })]);
    expect(rounds.reduce((sum, { call = 0 }) => sum + call, 0)).to.be.at.least(2);
    const { data } = (await owner.session.get('/api/usage')).body;
    expect(data).to.have.lengthOf(1);
    expect(data[0].createdAt).to.equal(young);
    expect((await owner.session.get('/api/balance')).body.data).to.include({ balance: 97, totalCharged: 3 });
  });

  it('finds a call that is missing although it is young', async () => {
    await addPastCall(gateway.em(), { userId: owner.id, at: daysAgo(0.5), charge: 1_000_000 });
    await remove({ callDays: 90 });
    const [call] = await gateway.em().execute<{ id: string }[]>(sql`
      delete from chat_call where user_id = ${owner.id} returning *`);
    const rule = 'a call is charged by the transfers that name it';
    expect((await findViolations(gateway.em())).map((found) => found.rule)).to.include(rule);
    await gateway.em().execute(sql`
      insert into chat_call select * from jsonb_populate_record(null::chat_call, ${JSON.stringify(call)}::jsonb)`);
  });

  it('removes audit entries only by its own setting, none that stands behind credits, and the table refuses all else', async () => {
    const chief = await createAdministrator(gateway);
    const entry = { action: 'CREATE_USER', targetType: 'user', targetId: owner.id } as const;
    await writeAuditEntry(gateway.em(), COMMAND_LINE, entry);
    expect((await chief.session.get('/api/admin/audit-entries')).body.data).to.not.deep.equal([]);
    const refused = await gateway
      .em()
      .execute(sql`delete from audit_entry`)
      .catch(String);
    expect(refused).to.include('never changed');
    await remove({ auditDays: 10 }, 9);
    expect((await chief.session.get('/api/admin/audit-entries')).body.data).to.not.deep.equal([]);
    expect((await remove({ auditDays: 10 }, 11)).audit_entry).to.be.at.least(1);
    const { data } = (await chief.session.get('/api/admin/audit-entries?limit=100')).body;
    const behindCredits = ['GRANT_CREDITS', 'REFUND_TASK'];
    expect(new Set(data.map(({ action }: { action: string }) => action))).to.deep.equal(
      new Set(behindCredits),
    );
  });

  it('removes nothing below the floor that the owner of the tables has set, whatever a process asks for', async () => {
    const chief = await createAdministrator(gateway);
    const entry = { action: 'CREATE_USER', targetType: 'user', targetId: owner.id } as const;
    await writeAuditEntry(gateway.em(), COMMAND_LINE, entry);
    await addPastCall(gateway.em(), {
      ...{ userId: owner.id, keyId: owner.keyId },
      ...{ at: daysAgo(2), charge: 1_000_000 },
    });
    const setFloor = (kept: string) =>
      gateway.em().execute(sql`update retention_floor set kept = ${kept}::interval`);
    await setFloor('3 days');
    const listCalls = async () => (await owner.session.get('/api/usage')).body.data;
    expect((await remove({ auditDays: 1, callDays: 1 }, 10)).audit_entry).to.equal(0);
    expect((await chief.session.get('/api/admin/audit-entries')).body.data).to.not.deep.equal([]);
    expect(await listCalls()).to.have.lengthOf(1);
    await setFloor('-100 days');
    expect((await remove({ auditDays: 1, callDays: 1 }, 10)).audit_entry).to.be.at.least(1);
    expect(await listCalls()).to.deep.equal([]);
  });

  it('is seen in the metrics', async () => {
    await make();
    await remove({ resultDays: 1 }, 2);
    const { removals } = await readMetricsSnapshot(gateway.database);
    const results = removals.find(({ subject }) => subject === 'result');
    expect(results?.removed).to.be.at.least(1);
    expect(results?.finishedSeconds).to.be.within(0, 60);
  });
});

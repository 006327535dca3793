// `npm run admin -- reconcile`: what a restored database, Temporal and storage no longer agree on.
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { createChatCalls } from '../../db/chat/chat-ledger.ts';
import { makeId } from '../../db/ids.ts';
import { findFreePort } from '../../dev/servers/ports.ts';
import { runAdmin, type CommandOutcome } from '../support/command-line.ts';
import { ageOpenTasks } from '../support/servers/engine.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { orderVideo, untilPolled } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

const NOTHING = [
  '     0 chat calls whose process died',
  '     0 tasks without a run',
  '     0 tasks whose run has ended',
  '     0 cancellations that did not arrive',
  '     0 tasks that the log says more about',
  '     0 runs without a task',
  '     0 results without a task',
  '0 violations',
];

describe('npm run admin -- reconcile', () => {
  const system = startTestSystem();

  const run = (...args: string[]): Promise<CommandOutcome> =>
    runAdmin(['reconcile', ...args], system.gateway.env);
  const linesOf = ({ output }: CommandOutcome): string[] => output.trimEnd().split('\n');

  it('finds nothing where all agree', async () => {
    const { code, output, errors } = await run();
    expect({ code, errors }).to.deep.equal({ code: 0, errors: '' });
    expect(linesOf({ code, output, errors })).to.deep.equal(NOTHING);
  });

  it('tells of a restore what it left apart, changes nothing, and mends it with --apply', async () => {
    const ended = await orderVideo(system.owner.session, 'outcome=stuck');
    await untilPolled(system.gateway, ended);
    await system.engine.handleOf(ended.id).terminate('a drill');
    await system.gateway.stopWorker();
    const lost = await orderWithoutStart();
    await reserveAbandonedCall();
    const unknown = await startWithoutRow();
    const file = `results/${makeId('task')}/1/0.png`;
    const { storage } = system.gateway.services;
    await storage.write(file, Readable.from(['x']), { contentType: 'image/png' });
    await ageOpenTasks(system.gateway);

    const told = await until('Temporal lists the run', async () => {
      const outcome = await run();
      return outcome.output.includes('1 runs') && outcome;
    });
    expect(told.code).to.equal(1);
    expect(linesOf(told)).to.deep.equal([
      '     1 chat calls whose process died',
      '     1 tasks without a run',
      '     1 tasks whose run has ended',
      '     0 cancellations that did not arrive',
      '     0 tasks that the log says more about',
      '     1 runs without a task',
      '     1 results without a task',
      'run it with --apply to mend this',
      '0 violations',
    ]);
    expect(await storage.size(file)).to.equal(1);
    expect(await stateOf(ended.id)).to.include({ status: 'in_progress' });

    const mended = await run('--apply');
    expect(mended.code).to.equal(0);
    expect(linesOf(mended)).to.deep.equal([
      '     1 chat calls whose process died: 1 settled',
      '     1 tasks without a run: 1 started',
      '     1 tasks whose run has ended: 1 failed without a charge',
      '     0 cancellations that did not arrive',
      '     0 tasks that the log says more about',
      '     1 runs without a task: 1 cancelled',
      '     1 results without a task: 1 removed',
      '0 violations',
    ]);
    expect(await storage.size(file)).to.equal(null);
    expect(await stateOf(ended.id)).to.deep.equal({ status: 'failed', charged: '0' });
    await system.gateway.startWorker();
    expect(await untilFinal(system.owner.session, lost)).to.include({ status: 'completed' });
    await until('the run without a task has ended', async () => {
      const { status } = await system.engine.handleOf(unknown).describe();
      return status.name === 'FAILED' || status.name === 'CANCELLED';
    });
    await until('nothing is left', async () => (await run()).code === 0);
  });

  it('counts no retry as without a run that only waits for a worker', async () => {
    const { id } = await orderVideo(system.owner.session, 'outcome=fail');
    expect(await untilFinal(system.owner.session, id)).to.include({ status: 'failed' });
    await system.engine.untilClosed(id); // a run that is still closing would leave the retry to the sweeper
    await system.gateway.stopWorker();
    expect((await system.owner.session.post(`/api/tasks/${id}/retry`)).status).to.equal(202);
    await untilStarted(id);
    await ageOpenTasks(system.gateway);
    expect(linesOf(await run())).to.deep.equal(NOTHING);
    await system.gateway.startWorker();
    expect(await untilFinal(system.owner.session, id)).to.include({ status: 'failed', attempt: 2 });
  });

  it('says in one sentence that Temporal or the storage is away, or that an option is unknown', async () => {
    const TEMPORAL_ADDRESS = `127.0.0.1:${await findFreePort()}`;
    const away = await runAdmin(['reconcile'], { ...system.gateway.env, TEMPORAL_ADDRESS });
    expect(away).to.deep.equal({
      ...{ code: 1, output: '' },
      errors: 'Temporal in TEMPORAL_ADDRESS does not answer.\n',
    });
    const unknown = await run('--force');
    expect(unknown.errors).to.equal('reconcile knows no option but --apply.\n');
    expect(unknown.code).to.equal(1);
  });

  it('mends nothing on a standby, which may not know the newest tasks', async () => {
    const [{ name = '' } = {}] = await system.gateway.em().execute('select current_database() as name');
    await system.gateway.em().execute(`alter database ${name} set default_transaction_read_only = on`); // as a standby is
    try {
      expect(await run('--apply')).to.deep.equal({
        ...{ code: 1, output: '' },
        errors: 'The database in DATABASE_URL is a standby: reconcile --apply belongs to the primary.\n',
      });
      expect((await run()).code, 'to look is no harm').to.equal(0);
    } finally {
      const writable = 'set transaction_read_only = off';
      await system.gateway
        .em()
        .execute(`${writable}; alter database ${name} reset default_transaction_read_only`);
    }
  });

  /** As when the process died between the row and the start. */
  async function orderWithoutStart(): Promise<string> {
    const { taskWorkflows } = system.gateway.services;
    const { startTaskWithin } = taskWorkflows;
    taskWorkflows.startTaskWithin = () => Promise.resolve(false);
    try {
      const { id } = await orderVideo(system.owner.session, 'seconds=0');
      await untilStarted(id);
      return id;
    } finally {
      taskWorkflows.startTaskWithin = startTaskWithin;
    }
  }

  /** Not by `drain`, after which the process starts no task any more. */
  async function untilStarted(id: string): Promise<void> {
    await system.gateway.services.taskStarts.underWay(id);
  }

  /** A call whose lease was over as it began. */
  async function reserveAbandonedCall(): Promise<void> {
    const amounts = { amount: 1_000n, amountMax: 1_000n, claim: null };
    const call = { id: makeId('call'), userId: system.owner.id, keyId: system.owner.keyId, ...amounts };
    const calls = createChatCalls(system.gateway.database, -1);
    await calls.reserve({ ...call, model: 'gpt-6-luna', stream: false, requestId: 'a-drill' });
  }

  /** As when a restore took the row back. Returns the task's id. */
  async function startWithoutRow(): Promise<string> {
    const id = makeId('task');
    const model = { mode: 'video', model: 'grok-imagine-video', family: 'grok' } as const;
    await system.gateway.services.taskWorkflows.startTask({
      id,
      attempt: 1,
      userId: system.owner.id,
      ...model,
    });
    return id;
  }

  async function stateOf(id: string): Promise<{ status: string; charged: string } | undefined> {
    const [row] = await system.gateway
      .em()
      .execute<{ status: string; charged: string }[]>(
        `select status, credits_charged::text as charged from task where id = '${id}'`,
      );
    return row;
  }
});

// A vendor that takes a job for which no task waits: another try was faster, or the task has ended.
import { expect } from 'chai';
import { recordJob } from '../../activities/accepted-job.ts';
import { forkEm } from '../../db/database.ts';
import { reserve } from '../../db/ledger/reservations.ts';
import { recordAccepted } from '../../db/tasks/accepted-jobs.ts';
import { cancelTask, completeTask } from '../../db/tasks/settlement.ts';
import * as submissions from '../../db/tasks/submissions.ts';
import { createSeedance } from '../../providers/seedance/seedance.ts';
import * as rows from '../support/rows.ts';
import { createDatabase, type TestDatabase } from '../support/servers/database.ts';
import { sendJson, settingsAt, startStandIn, type StandIn } from '../providers/stand-in.ts';

describe('a job that a vendor took and that no task waits for', () => {
  let test: TestDatabase;
  let vendor: StandIn;
  let answersWith = 200;
  let lines: object[] = [];

  before(async () => {
    test = await createDatabase();
    vendor = await startStandIn((res) => sendJson(res, answersWith, { status: 'queued' }));
  });
  after(async () => {
    await vendor.close();
    await test.drop();
  });
  beforeEach(() => {
    [answersWith, lines, vendor.received.length] = [200, [], 0];
  });

  const em = () => forkEm(test.database);

  async function startTry(): Promise<submissions.SubmissionTry> {
    const task = await rows.queueTask(em(), await rows.createOwner(em(), 0n), 0n);
    await reserve(em(), task);
    await rows.begin(em(), task);
    const choice = { family: 'seedance', credentials: ['default'], jobsPerCredentialMax: null };
    const intent = await submissions.intendSubmission(em(), { ...task, tryId: 'try-1' }, choice);
    if (intent.kind !== 'proceed') throw new Error(`the try is ${intent.kind}`);
    return { ...task, sentAt: intent.sentAt };
  }

  async function tellJob(task: submissions.SubmissionTry, id: string): Promise<string> {
    const log = { warn: (line: object) => void lines.push(line), error: () => undefined };
    const handle = { id, credential: 'default' };
    const answer = { kind: 'accepted', handle, upstreamRequestId: null } as const;
    const provider = createSeedance(settingsAt(vendor.url));
    const recorded = recordJob({ database: test.database, log }, { task, provider }, answer);
    return recorded.then(
      () => 'accepted',
      ({ type }: { type: string }) => type,
    );
  }

  const stopped = () =>
    vendor.received.flatMap(({ method, path }) => (method === 'DELETE' ? [path.split('/').at(-1)] : []));

  it('is logged and cancelled when another try of the attempt has a job, which goes on', async () => {
    const task = await startTry();
    expect(await tellJob(task, 'cgt-first')).to.equal('accepted');
    expect(await tellJob(task, 'cgt-first'), 'a repeat of the first').to.equal('accepted');
    expect({ lines, stopped: stopped() }).to.deep.equal({ lines: [], stopped: [] });
    expect(await tellJob(task, 'cgt-second')).to.equal('accepted');
    expect(stopped()).to.deep.equal(['cgt-second']);
    const { taskId, attempt } = task;
    const job = { taskId, attempt, family: 'seedance', jobId: 'cgt-second' };
    expect(lines).to.deep.equal([{ ...job, isStopped: true }]);
    expect((await submissions.findSubmission(em(), task))?.handle?.id).to.equal('cgt-first');
  });

  it('is logged and cancelled when its task was cancelled meanwhile, or failed as unknown', async () => {
    const cancelled = await startTry();
    await cancelTask(em(), cancelled);
    expect(await tellJob(cancelled, 'cgt-late')).to.equal('accepted');
    const failed = await startTry();
    await submissions.recordFailedTry(em(), failed, { code: 'upstream_outcome_unknown', errorText: null });
    expect(await tellJob(failed, 'cgt-later')).to.equal('upstream_outcome_unknown');
    expect(stopped()).to.deep.equal(['cgt-late', 'cgt-later']);
    expect(lines).to.have.length(2);
  });

  it('is logged and cancelled when the answer that its task had ended was lost, and it is recorded again', async () => {
    const task = await startTry();
    await cancelTask(em(), task);
    const answer = { handle: { id: 'cgt-lost', credential: 'default' }, upstreamRequestId: null };
    await recordAccepted(em(), task, answer);
    expect(await tellJob(task, 'cgt-lost')).to.equal('accepted');
    expect({ logged: lines.length, stopped: stopped() }).to.deep.equal({ logged: 1, stopped: ['cgt-lost'] });
  });

  it('is left alone when it is recorded again after its task was completed with it', async () => {
    const task = await startTry();
    await tellJob(task, 'cgt-done');
    await completeTask(em(), task, { outputs: [], outputText: null, amount: 0n, loss: 0n });
    expect(await tellJob(task, 'cgt-done')).to.equal('accepted');
    expect({ lines, stopped: stopped() }).to.deep.equal({ lines: [], stopped: [] });
  });

  it('is logged, and the task goes on, when the vendor refuses to cancel it', async () => {
    answersWith = 500;
    const task = await startTry();
    await tellJob(task, 'cgt-1');
    expect(await tellJob(task, 'cgt-2')).to.equal('accepted');
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ jobId: 'cgt-2', isStopped: false });
  });

  it('is not cancelled when it is the job of another task', async () => {
    const [first, second] = [await startTry(), await startTry()];
    await tellJob(first, 'cgt-shared');
    expect(await tellJob(second, 'cgt-shared')).to.equal('upstream_outcome_unknown');
    expect({ lines, stopped: stopped() }).to.deep.equal({ lines: [], stopped: [] });
  });
});

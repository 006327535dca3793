// Submissions in the database: an attempt is handed over once, and the first answer of the vendor stands.
import { randomUUID } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { forkEm } from '../../../db/database.ts';
import { readPoolMetrics } from '../../../db/pool.ts';
import { reserve } from '../../../db/ledger/reservations.ts';
import { startCooldown } from '../../../db/tasks/credentials.ts';
import { recordAccepted } from '../../../db/tasks/accepted-jobs.ts';
import { cancelTask } from '../../../db/tasks/settlement.ts';
import * as submissions from '../../../db/tasks/submissions.ts';
import type { TaskAttempt } from '../../../domain/tasks.ts';
import * as rows from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

const TAKEN_UP = { hasJob: true, isOrphaned: false };
const FAILURE = { code: 'upstream_error', errorText: null } as const;

describe('submissions', () => {
  let test: TestDatabase;
  let userId: string;
  let family = 0;

  before(async () => {
    test = await createDatabase();
    userId = await rows.createOwner(em(), 0n);
  });
  after(() => test.drop());
  /** A family of its own for each test, so that no job of another one counts. */
  beforeEach(() => void (family += 1));

  const em = () => forkEm(test.database);
  const choice = (credentials: string[], jobsPerCredentialMax: number | null = null) => ({
    family: `family-${family}`,
    credentials,
    jobsPerCredentialMax,
  });
  const intend = (task: TaskAttempt, credentials = ['one'], max: number | null = null) =>
    submissions.intendSubmission(em(), { ...task, tryId: randomUUID() }, choice(credentials, max));
  const accept = (task: TaskAttempt, id: string, credential = 'one') =>
    recordAccepted(em(), task, { handle: { id, credential }, upstreamRequestId: null });
  const stateOf = async (task: TaskAttempt) => (await submissions.findSubmission(em(), task))?.state;

  /** Writes the intent of a try. */
  async function tryOf(task: TaskAttempt, credentials = ['one']): Promise<submissions.SubmissionTry> {
    const intent = await intend(task, credentials);
    if (intent.kind !== 'proceed') throw new Error(`the try is ${intent.kind}`);
    return { ...task, sentAt: intent.sentAt };
  }

  /** A try of a second ago: those of one attempt are as far apart, and told apart by their times. */
  async function earlierTryOf(task: TaskAttempt): Promise<submissions.SubmissionTry> {
    const { sentAt } = await tryOf(task);
    await em().execute(sql`
      update submission set sent_at = sent_at - interval '1 second' where task_id = ${task.taskId}`);
    return { ...task, sentAt: new Date(sentAt.getTime() - 1_000) };
  }

  /** Reads the newest try as a worker does that finds it. */
  async function tryInRow(task: TaskAttempt): Promise<submissions.SubmissionTry> {
    const found = await submissions.findSubmission(em(), task);
    if (!found) throw new Error('the submission is gone');
    return { ...task, sentAt: found.sentAt };
  }

  function inUse(): number {
    const { open, idle, waiting } = readPoolMetrics(test.database);
    return open - idle + waiting;
  }

  const fail = (tried: submissions.SubmissionTry) => submissions.recordFailedTry(em(), tried, FAILURE);

  async function startTask(owner = userId): Promise<TaskAttempt> {
    const task = await rows.queueTask(em(), owner, 0n);
    await reserve(em(), task);
    await rows.begin(em(), task);
    return task;
  }

  it('let one of ten parallel tries proceed; the others learn that it was submitted', async () => {
    const task = await startTask();
    const intents = await Promise.all(Array.from({ length: 10 }, () => intend(task)));
    expect(intents.filter(({ kind }) => kind === 'proceed')).to.have.length(1);
    expect(intents.filter(({ kind }) => kind === 'already_submitted')).to.have.length(9);
  });

  it('are not made for a task that is not in progress, or for another attempt', async () => {
    const queued = await rows.queueTask(em(), userId, 0n);
    expect(await intend(queued)).to.deep.equal({ kind: 'already_submitted' });
    const task = await startTask();
    expect(await intend({ ...task, attempt: 2 })).to.deep.equal({ kind: 'already_submitted' });
    expect(await submissions.findSubmission(em(), queued)).to.equal(null);
  });

  it('may be tried again once the vendor surely did not take the work', async () => {
    const task = await startTask();
    await submissions.recordNotReceived(em(), await tryOf(task), null);
    expect(await intend(task, ['two'])).to.include({ kind: 'proceed', credential: 'two' });
  });

  it('may be tried again also by who finds the try in the row, whose times have no microseconds', async () => {
    const task = await startTask();
    await intend(task);
    await em().execute(sql`
      update submission set sent_at = '2026-01-01 00:00:00.288999+00' where task_id = ${task.taskId}`);
    await submissions.recordNotReceived(em(), await tryInRow(task), null);
    expect(await stateOf(task)).to.equal('not_received');
  });

  it('go on when it is told late that the try before was not received', async () => {
    const task = await startTask();
    const first = await earlierTryOf(task);
    await submissions.recordNotReceived(em(), first, null);
    const second = await tryOf(task);
    await submissions.recordNotReceived(em(), first, null);
    expect(await stateOf(task)).to.equal('sending');
    expect(await accept(task, 'job-of-the-second')).to.deep.equal(TAKEN_UP);
    await submissions.recordNotReceived(em(), second, null);
    expect(await stateOf(task)).to.equal('accepted');
  });

  it('go on when it is told late that the try before has failed, and when the work was found meanwhile', async () => {
    const task = await startTask();
    const first = await earlierTryOf(task);
    await submissions.recordNotReceived(em(), first, null);
    const second = await tryOf(task);
    await fail(first);
    expect(await stateOf(task)).to.equal('sending');
    expect(await accept(task, 'job-found')).to.deep.equal(TAKEN_UP);
    await fail(second);
    expect(await stateOf(task)).to.equal('accepted');
  });

  it('take up a job of which the vendor tells when its try was given up, and make no other one', async () => {
    const task = await startTask();
    await submissions.recordNotReceived(em(), await tryOf(task), null);
    await intend(await startTask(), ['two']);
    expect(await intend(task, ['two'], 1)).to.deep.equal({ kind: 'busy' });
    expect(await accept(task, 'job-told-late')).to.deep.equal(TAKEN_UP);
    const found = await submissions.findSubmission(em(), task);
    expect(found).to.include({ state: 'accepted', credential: 'one' });
    expect(await intend(task, ['two'])).to.deep.equal({ kind: 'already_submitted' });
  });

  it('go on with the job that was told first when the vendor took two tries', async () => {
    const task = await startTask();
    await submissions.recordNotReceived(em(), await tryOf(task), null);
    await tryOf(task, ['two']);
    expect(await accept(task, 'job-of-the-first')).to.deep.equal(TAKEN_UP);
    expect(await accept(task, 'job-of-the-second', 'two')).to.deep.equal({ hasJob: true, isOrphaned: true });
    const found = await submissions.findSubmission(em(), task);
    expect(found).to.include({ state: 'accepted', credential: 'one' });
    expect(found?.handle?.id).to.equal('job-of-the-first');
  });

  it('leave a job without a task when their attempt has ended, and when they were given up for lost', async () => {
    const [ended, givenUp] = [await startTask(), await startTask()];
    await tryOf(ended);
    await cancelTask(em(), ended);
    expect(await accept(ended, 'job-of-an-ended-task')).to.deep.equal({ hasJob: true, isOrphaned: true });
    await fail(await tryOf(givenUp));
    expect(await accept(givenUp, 'job-told-too-late')).to.deep.equal({ hasJob: false, isOrphaned: true });
  });

  it('wait while every credential has as many jobs as it may have', async () => {
    const [first, second] = [await startTask(), await startTask()];
    expect((await intend(first, ['one'], 1)).kind).to.equal('proceed');
    expect(await intend(second, ['one'], 1)).to.deep.equal({ kind: 'busy' });
    await fail(await tryInRow(first));
    expect((await intend(second, ['one'], 1)).kind).to.equal('proceed');
  });

  it('leave all but one of the connections to others while hundreds wait for a place', async () => {
    const task = await startTask();
    await intend(task, ['one'], 1);
    const asked = Array.from({ length: 300 }, async () => intend(task, ['one'], 1));
    const most: number[] = [];
    const watch = setInterval(() => most.push(inUse()), 1);
    await Promise.all(asked);
    clearInterval(watch);
    expect(Math.max(...most)).to.equal(1);
  });

  it('leave the next place to another user who waits, when half of the places are taken by one', async () => {
    const other = await rows.createOwner(em(), 0n);
    const running = [await startTask(), await startTask(), await startTask(), await startTask()];
    for (const task of running) expect((await intend(task, ['one', 'two'], 2)).kind).to.equal('proceed');
    const [next, waiting] = [await startTask(), await startTask(other)];
    expect(await intend(waiting, ['one', 'two'], 2)).to.deep.equal({ kind: 'busy' });
    for (const task of running.slice(0, 2)) await fail(await tryInRow(task));
    expect(await intend(next, ['one', 'two'], 2), 'has half of them').to.deep.equal({ kind: 'busy' });
    expect((await intend(waiting, ['one', 'two'], 2)).kind).to.equal('proceed');
    expect((await intend(next, ['one', 'two'], 2)).kind, 'no other user waits').to.equal('proceed');
  });

  it('pass over a credential in its cooldown, unless all are in one', async () => {
    const cool = (credential: string, seconds: number) =>
      startCooldown(em(), { family: `family-${family}`, credential, reason: 'rate', seconds });
    await cool('one', 60);
    expect(await intend(await startTask(), ['one', 'two'])).to.include({ credential: 'two' });
    await cool('two', 600);
    expect(await intend(await startTask(), ['one', 'two'])).to.include({ credential: 'one' });
  });

  it('keep a job for the submission that had it first', async () => {
    const [first, second] = [await startTask(), await startTask()];
    await intend(first);
    await intend(second);
    expect(await accept(first, 'job-1')).to.deep.equal(TAKEN_UP);
    expect(await accept(second, 'job-1')).to.deep.equal({ hasJob: false, isOrphaned: false });
    expect(await accept(first, 'job-1'), 'a repeat whose first answer was lost').to.deep.equal(TAKEN_UP);
    expect(await stateOf(second)).to.equal('sending');
  });

  it('keep a success against a later failure, and a failure against a later success', async () => {
    const success = { results: { secretKeyId: 'k', bytes: Buffer.from('x') }, evidence: {} };
    const [first, second] = [await startTask(), await startTask()];
    for (const task of [first, second]) {
      await intend(task);
      await accept(task, `job-of-${task.taskId}`);
    }
    await submissions.recordSucceeded(em(), first, success);
    await submissions.recordEnded(em(), first, FAILURE);
    await submissions.recordEnded(em(), second, FAILURE);
    await submissions.recordSucceeded(em(), second, success);
    expect([await stateOf(first), await stateOf(second)]).to.deep.equal(['succeeded', 'ended']);
  });

  it('are fresh as long as their worker says so', async () => {
    const task = await startTask();
    await intend(task);
    expect(await submissions.isSubmissionFresh(em(), task, 15)).to.equal(true);
    await em().execute(
      sql`update submission set updated_at = now() - interval '16 seconds' where task_id = ${task.taskId}`,
    );
    expect(await submissions.isSubmissionFresh(em(), task, 15)).to.equal(false);
    await submissions.keepSubmissionsFresh(em(), [task]);
    expect(await submissions.isSubmissionFresh(em(), task, 15)).to.equal(true);
  });
});

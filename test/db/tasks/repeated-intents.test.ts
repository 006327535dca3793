// Intents that a try writes again, because the database did not answer although it had written them.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { forkEm, type Em } from '../../../db/database.ts';
import { reserve } from '../../../db/ledger/reservations.ts';
import { recordAccepted } from '../../../db/tasks/accepted-jobs.ts';
import * as submissions from '../../../db/tasks/submissions.ts';
import type { TaskAttempt } from '../../../domain/tasks.ts';
import * as rows from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

const ALREADY_SUBMITTED = { kind: 'already_submitted' };

describe('an intent to submit', () => {
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

  interface Choice {
    credentials?: string[];
    max?: number | null;
    on?: Em;
  }

  function intendAs(
    tryId: string,
    task: TaskAttempt,
    { credentials = ['one'], max = null, on }: Choice = {},
  ) {
    const choice = { family: `family-${family}`, credentials, jobsPerCredentialMax: max };
    return submissions.intendSubmission(on ?? em(), { ...task, tryId }, choice);
  }

  async function startTask(): Promise<TaskAttempt> {
    const task = await rows.queueTask(em(), userId, 0n);
    await reserve(em(), task);
    await rows.begin(em(), task);
    return task;
  }

  /** Reads the newest try as a worker does that finds it. */
  async function tryInRow(task: TaskAttempt): Promise<submissions.SubmissionTry & { state: string }> {
    const found = await submissions.findSubmission(em(), task);
    if (!found) throw new Error('the submission is gone');
    return { ...task, sentAt: found.sentAt, state: found.state };
  }

  /** Moves the times of an intent: back, as if its worker had died, or ahead. */
  const move = ({ taskId }: TaskAttempt, seconds: number) =>
    em().execute(sql`
      update submission set sent_at = sent_at + make_interval(secs => ${seconds}),
        updated_at = updated_at + make_interval(secs => ${seconds})
      where task_id = ${taskId}`);

  async function eventsOf({ taskId }: TaskAttempt): Promise<string[]> {
    const logged = await em().execute<{ event: string }[]>(sql`
      select event from task_event where task_id = ${taskId} and event like 'submit%' order by id`);
    return logged.map(({ event }) => event);
  }

  it('stands when its try writes it again, is one event, and is none for another try', async () => {
    const task = await startTask();
    expect((await intendAs('first', task)).kind).to.equal('proceed');
    const again = Array.from({ length: 5 }, () => intendAs('first', task, { credentials: ['two'] }));
    for (const repeat of await Promise.all(again))
      expect(repeat).to.include({ kind: 'proceed', credential: 'one' });
    expect(await eventsOf(task)).to.deep.equal(['submitting']);
    expect(await intendAs('second', task)).to.deep.equal(ALREADY_SUBMITTED);
    await submissions.recordNotReceived(em(), await tryInRow(task), null);
    expect(await intendAs('first', task), 'of a try that is over').to.deep.equal(ALREADY_SUBMITTED);
    expect((await intendAs('second', task)).kind).to.equal('proceed');
    expect(await eventsOf(task)).to.deep.equal(['submitting', 'submit_retried', 'submitting']);
    const job = { handle: { id: 'job-1', credential: 'one' }, upstreamRequestId: null };
    expect(await recordAccepted(em(), task, job)).to.deep.equal({ hasJob: true, isOrphaned: false });
    expect(await intendAs('second', task)).to.deep.equal(ALREADY_SUBMITTED);
  });

  it('is one event when five writes of one try come at once', async () => {
    const task = await startTask();
    await Promise.all(Array.from({ length: 5 }, () => intendAs('first', task)));
    expect(await eventsOf(task)).to.deep.equal(['submitting']);
  });

  it('goes on when it is written again after another run found it, and nothing at the vendor', async () => {
    const task = await startTask();
    await intendAs('stalled', task);
    await move(task, -16);
    const found = await tryInRow(task);
    expect((await intendAs('stalled', task)).kind).to.equal('proceed');
    await submissions.recordNotReceived(em(), found, null);
    await submissions.recordFailedTry(em(), found, { code: 'upstream_outcome_unknown', errorText: null });
    expect((await tryInRow(task)).state).to.equal('sending');
    expect(await submissions.isSubmissionFresh(em(), task, 15)).to.equal(true);
    expect(await intendAs('other', task)).to.deep.equal(ALREADY_SUBMITTED);
    await submissions.recordNotReceived(em(), await tryInRow(task), null);
    expect((await tryInRow(task)).state, 'told of the repeat itself').to.equal('not_received');
  });

  it('keeps its time when a write of it that was held back comes after its repeat', async () => {
    const task = await startTask();
    await intendAs('stalled', task);
    await move(task, 60);
    const repeated = await tryInRow(task);
    await intendAs('stalled', task);
    expect(await tryInRow(task)).to.deep.equal(repeated);
    expect(await eventsOf(task)).to.deep.equal(['submitting']);
  });

  it('says “already submitted” when it is written again after it found no place, so that the next run asks', async () => {
    const [running, task] = [await startTask(), await startTask()];
    await intendAs('running', running, { max: 1 });
    expect(await intendAs('first', task, { max: 1 })).to.deep.equal({ kind: 'busy' });
    expect(await intendAs('first', task, { max: 1 })).to.deep.equal(ALREADY_SUBMITTED);
    expect((await tryInRow(task)).state).to.equal('not_received');
    expect(await intendAs('next', task, { max: 1 })).to.deep.equal({ kind: 'busy' });
    expect(await eventsOf(task)).to.deep.equal([]);
  });

  it('stands when the answer to the commit was lost that counted the jobs of its credential', async () => {
    const [task, other] = [await startTask(), await startTask()];
    const lossy = em();
    const transactional = lossy.transactional.bind(lossy);
    lossy.transactional = async (...run) => {
      await transactional(...run);
      throw new Error('Query read timeout');
    };
    const first = intendAs('first', task, { max: 1, on: lossy });
    expect(await first.catch(({ message }: Error) => message)).to.equal('Query read timeout');
    expect(await intendAs('first', task, { max: 1 })).to.include({ kind: 'proceed', credential: 'one' });
    expect(await intendAs('other', other, { max: 1 }), 'the place is counted once').to.deep.equal({
      kind: 'busy',
    });
    expect(await eventsOf(task)).to.deep.equal(['submitting']);
  });
});

// Results that come with an answer when their try has been given up: their files do not stay.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { recordAnswer } from '../../activities/submission-outcome.ts';
import { forkEm } from '../../db/database.ts';
import { driverPoolOf } from '../../db/pool.ts';
import { reserve } from '../../db/ledger/reservations.ts';
import { failTask } from '../../db/tasks/settlement.ts';
import * as submissions from '../../db/tasks/submissions.ts';
import { createOpenaiImages } from '../../providers/openai/images.ts';
import { createStorage, type Storage } from '../../storage/storage.ts';
import { PNG, settingsAt } from '../providers/stand-in.ts';
import * as rows from '../support/rows.ts';
import { createDatabase, type TestDatabase } from '../support/servers/database.ts';

describe('an image that a vendor delivers', () => {
  let test: TestDatabase;
  let folder: string;
  let storage: Storage;

  before(async () => {
    test = await createDatabase();
    folder = mkdtempSync(join(tmpdir(), 'svc-late-results-'));
    storage = createStorage({ kind: 'local', folder });
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await test.drop();
  });

  const em = () => forkEm(test.database);

  async function startTry(): Promise<submissions.SubmissionTry> {
    const task = await rows.queueTask(em(), await rows.createOwner(em(), 0n), 0n);
    await reserve(em(), task);
    await rows.begin(em(), task);
    const choice = { family: 'openai', credentials: ['default'], jobsPerCredentialMax: null };
    const intent = await submissions.intendSubmission(em(), { ...task, tryId: 'try-1' }, choice);
    if (intent.kind !== 'proceed') throw new Error(`the try is ${intent.kind}`);
    return { ...task, sentAt: intent.sentAt };
  }

  async function deliver(task: submissions.SubmissionTry): Promise<void> {
    const log = { warn: () => undefined, error: () => undefined };
    const results = [{ kind: 'inline' as const, bytes: PNG }];
    const answer = { kind: 'finished', results, evidence: {}, upstreamRequestId: null } as const;
    const provider = createOpenaiImages(settingsAt('http://127.0.0.1:9'));
    await recordAnswer({ database: test.database, storage, log }, { task, provider }, answer);
  }

  async function filesOf({ taskId }: submissions.SubmissionTry): Promise<string[]> {
    const keys: string[] = [];
    for await (const key of storage.list('results')) if (key.includes(taskId)) keys.push(key);
    return keys.map((key) => key.split('/').at(-1) ?? '').sort();
  }

  it('is kept, also when its delivery is recorded again', async () => {
    const task = await startTry();
    await deliver(task);
    await deliver(task);
    expect(await filesOf(task)).to.deep.equal(['0.png', '0.preview.webp']);
  });

  it('is recorded by one statement, which nothing is read after', async () => {
    const task = await startTry();
    const pool = await driverPoolOf(em());
    const query = pool.query.bind(pool);
    const asked: string[] = [];
    pool.query = (statement) => {
      asked.push(statement.name.split(' ')[0] ?? '');
      return query(statement);
    };
    await deliver(task).finally(() => (pool.query = query));
    expect(asked).to.deep.equal(['record-stored']);
  });

  it('leaves no file when its try has been given up, since no row would name it', async () => {
    const task = await startTry();
    await submissions.recordFailedTry(em(), task, { code: 'upstream_outcome_unknown', errorText: null });
    await deliver(task);
    expect(await filesOf(task)).to.deep.equal([]);
  });

  it('leaves no file when its task has failed at the deadline, and nothing says that it was stored', async () => {
    const task = await startTry();
    await failTask(em(), task, { code: 'upstream_timeout', message: 'Too late.' });
    await deliver(task);
    expect(await filesOf(task)).to.deep.equal([]);
    expect(await submissions.findSubmission(em(), task)).to.include({ state: 'sending', outputs: null });
  });
});

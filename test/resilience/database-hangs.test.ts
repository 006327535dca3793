// PostgreSQL hangs while tasks and chat calls are created: nothing is lost or doubled, and no answer is 500.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { readPoolMetrics } from '../../db/pool.ts';
import { CHAT_MODEL, isSettled, say } from '../support/chat.ts';
import { createCleanup } from '../support/cleanup.ts';
import type { Answer } from '../support/http/http.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { startOwnPostgres, type OwnServer } from '../support/servers/own-servers.ts';
import { countSubmissions, readJournal } from '../support/servers/sandbox.ts';
import { IMAGE_CREDITS, IMAGE_MODEL, readAvailable, uniqueWord } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

const CALLS = 12;
/** Longer than a statement may take. */
const HANG_MS = 7_000;
const RECOVERY_LIMIT_MS = 60_000;

describe('a database that hangs', function () {
  this.timeout(300_000);
  const cleanup = createCleanup();
  const sharedServer = process.env['TEST_POSTGRES_URL'];
  let postgres: OwnServer;
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    postgres = await startOwnPostgres();
    cleanup.later(() => postgres.remove());
    process.env['TEST_POSTGRES_URL'] = postgres.address;
    cleanup.later(async () => {
      process.env['TEST_POSTGRES_URL'] = sharedServer;
    });
    gateway = await startGateway();
    cleanup.later(() => gateway.stop());
    owner = await gateway.createUser(1_000);
  });
  after(() => cleanup.run());

  interface Call {
    path: string;
    body: object;
    headers: Record<string, string>;
    word: string;
  }

  const image = (): Call => {
    const word = uniqueWord();
    const body = { model: IMAGE_MODEL, prompt: `${word} [[sandbox seconds=0]]` };
    return { path: '/v1/images/generations', body, headers: { 'idempotency-key': word }, word };
  };
  const chat = (): Call => {
    const word = uniqueWord();
    const body = { model: CHAT_MODEL, messages: say('tokens=5', word) };
    return { path: '/v1/chat/completions', body, headers: { 'idempotency-key': word }, word };
  };
  const send = ({ path, body, headers }: Call): Promise<Answer> => owner.key.post(path, body, headers);

  /** Repeats a call with its key until it is answered for good. */
  const untilAnswered = (call: Call): Promise<Answer> =>
    until(
      `${call.word} is answered`,
      async () => {
        const answer = await send(call);
        expect(answer.status).to.be.oneOf([200, 202, 409, 503]);
        return answer.status < 300 && answer;
      },
      RECOVERY_LIMIT_MS,
    );

  it('answers 503 or what it did, and every call that is repeated with its key has happened once', async () => {
    const calls = Array.from({ length: CALLS }, (_, each) => (each % 2 === 0 ? image() : chat()));
    const early = calls.slice(0, CALLS / 2).map(send);
    await until('one of them is written', async () => {
      const [row] = await gateway.em().execute<{ count: number }[]>(sql`
        select count(*)::int as count from idempotency_key`);
      return (row?.count ?? 0) > 0;
    });
    postgres.suspend();
    const late = calls.slice(CALLS / 2).map(send);
    await new Promise((resolve) => setTimeout(resolve, HANG_MS)); // the drill itself
    postgres.resume();
    for (const { status } of await Promise.all([...early, ...late]))
      expect(status).to.be.oneOf([200, 202, 503]);

    const answers = await Promise.all(calls.map(untilAnswered));
    const images = answers.filter(({ status }) => status === 202);
    expect(images).to.have.length(CALLS / 2);
    for (const { body } of images)
      expect(await untilFinal(owner.session, body.id, RECOVERY_LIMIT_MS)).to.include({ status: 'completed' });
    await until('the chat calls are settled', () => isSettled(owner), RECOVERY_LIMIT_MS);
    for (const { word, path } of calls)
      if (path.includes('images')) expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
      else expect((await readJournal(gateway.sandboxUrl, word)).length).to.be.at.least(1);
    const [tasks] = await gateway.em().execute<{ count: number }[]>(sql`
      select count(*)::int as count from task where user_id = ${owner.id}`);
    expect(tasks?.count).to.equal(CALLS / 2);
    expect((await readAvailable(owner)).balance).to.be.at.most(1_000 - (CALLS / 2) * IMAGE_CREDITS);
    await gateway.expectSoundMoney();
    await until('no broken connection holds a place in the pool', async () => {
      const { open, idle } = readPoolMetrics(gateway.database);
      return open === idle;
    });
  });
});

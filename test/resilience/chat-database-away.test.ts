// PostgreSQL dies while chat calls run: their answers still arrive, and what they cost is charged when it is
// back.
import { expect } from 'chai';
import {
  ask,
  CHAT_MODEL,
  eventsIn,
  isSettled,
  openStream,
  readBalance,
  readCalls,
  say,
} from '../support/chat.ts';
import { createCleanup } from '../support/cleanup.ts';
import { expectError } from '../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { startOwnPostgres, type OwnServer } from '../support/servers/own-servers.ts';
import { readJournal } from '../support/servers/sandbox.ts';
import { uniqueWord } from '../support/tasks.ts';
import { until } from '../support/until.ts';

describe('chat while the database is away', () => {
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
    gateway = await startGateway({ worker: false });
    cleanup.later(() => gateway.stop());
    owner = await gateway.createUser();
  });
  after(() => cleanup.run());

  it('delivers answers that had begun, charges them afterwards, and begins none', async () => {
    const { balance: before } = await readBalance(owner);
    const word = uniqueWord();
    const streamed = openStream(gateway.baseUrl, owner, { directive: 'tokens=50 delay=30', word });
    const whole = owner.key.post('/v1/chat/completions', {
      model: CHAT_MODEL,
      messages: say('seconds=1.5 tokens=50', word),
    });
    const response = await streamed;
    await until(
      'both are at the upstream',
      async () => (await readJournal(gateway.sandboxUrl, word)).length === 2,
    );
    await postgres.kill();
    const events = eventsIn(await response.text());
    expect(events.at(-1)).to.equal('[DONE]');
    const { usage } = JSON.parse(events.at(-2) ?? '');
    expect(usage.completion_tokens).to.equal(50);
    const answer = await whole;
    expect(answer.status).to.equal(200);
    expectError(await ask(owner), 503, 'service_unavailable');
    await postgres.restart();
    await until('everything is settled', () => isSettled(owner).catch(() => false));
    const charged = usage.credits_charged + answer.body.usage.credits_charged;
    expect(before - (await readBalance(owner)).balance).to.be.closeTo(charged, 0.000_001);
    const calls = await readCalls(gateway, owner);
    expect(calls.map(({ status, basis }) => [status, basis])).to.deep.equal([
      ['completed', 'upstream'],
      ['completed', 'upstream'],
    ]);
    await gateway.expectSoundMoney();
    expect((await ask(owner)).status).to.equal(200);
  });
});

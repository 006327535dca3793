// What chat calls promise when the caller leaves, the upstream breaks off, or nothing is said for a while.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import {
  ask,
  eventsIn,
  expectPrice,
  INPUT_PRICE,
  isSettled,
  lastCall,
  openStream,
  readBalance,
  readUntil,
  say,
} from '../../support/chat.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { readJournal } from '../../support/servers/sandbox.ts';
import { uniqueWord } from '../../support/tasks.ts';
import { medianOf } from '../../support/timing.ts';
import { until } from '../../support/until.ts';

const SETTLED_WITHIN_MS = 2_000;
const LEAVERS = 100;

describe('a chat call', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_UPSTREAM_TIMEOUT_SECONDS: '3' } });
    // The first count loads the tokenizer.
    const first = await gateway.createUser();
    await ask(first, 'usage=missing');
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());

  const stream = (
    directive: string,
    word = '',
    fields: object = {},
    signal?: AbortSignal,
  ): Promise<Response> => openStream(gateway.baseUrl, owner, { directive, word, fields }, signal);

  const settledSoon = (): Promise<boolean> =>
    until('nothing is set aside', () => isSettled(owner), SETTLED_WITHIN_MS);

  /** Milliseconds between the caller's disconnect and the vendor's noticing it. */
  async function upstreamClosedAfter(word: string, leftAt: number): Promise<number> {
    const closedAt = await until('the upstream’s connection is closed', async () => {
      const [entry] = await readJournal(gateway.sandboxUrl, word);
      return entry?.clientClosedAt;
    });
    return Date.parse(closedAt) - leftAt;
  }

  /** Has several callers leave; `leave` answers the milliseconds after which the upstream was left. */
  async function expectLeftAtOnce(leave: () => Promise<number>): Promise<void> {
    const timesMs = [await leave(), await leave(), await leave()];
    // The middle one: a machine that is busy for a moment delays one of them.
    expect(medianOf(timesMs)).to.be.below(200);
  }

  describe('whose caller leaves', () => {
    it(`with everything but the usage, ${LEAVERS} times, is charged 95 % of the honest price at least`, async () => {
      const tokens = 20;
      const params = `tokens=${tokens} delay=1`;
      const honest = (await ask(owner, params)).body.usage.credits_charged;
      const before = (await readBalance(owner)).balance;
      for (let leaver = 0; leaver < LEAVERS; leaver += 1) {
        const leaving = new AbortController();
        const response = await stream(params, '', {}, leaving.signal);
        const text = await readUntil(response, (heard) => contentsIn(heard) === tokens);
        expect(text).not.to.include('[DONE]');
        leaving.abort();
      }
      await settledSoon();
      const charged = before - (await readBalance(owner)).balance;
      expect(charged / (honest * LEAVERS)).to.be.at.least(0.95);
      expect(charged / (honest * LEAVERS), 'and no more than our own count of a prompt adds').to.be.below(2);
    });

    it('before the upstream accepted a stream costs nothing, and the upstream is left at once', async () => {
      await expectLeftAtOnce(async () => {
        const word = uniqueWord();
        const leaving = new AbortController();
        const answer = stream('submit=hang', word, {}, leaving.signal).catch(() => 'left');
        await until(
          'the upstream is asked',
          async () => (await readJournal(gateway.sandboxUrl, word)).length > 0,
        );
        const leftAt = Date.now();
        leaving.abort();
        expect(await answer).to.equal('left');
        const closedAfterMs = await upstreamClosedAfter(word, leftAt);
        await settledSoon();
        expect(await lastCall(owner)).to.include({ status: 'cancelled', creditsCharged: 0, errorCode: null });
        return closedAfterMs;
      });
    });

    it('before the first token costs the prompt at the most, and the upstream is left at once', async () => {
      await expectLeftAtOnce(async () => {
        const word = uniqueWord();
        const leaving = new AbortController();
        await stream('first=5000', word, {}, leaving.signal);
        const leftAt = Date.now();
        leaving.abort();
        const closedAfterMs = await upstreamClosedAfter(word, leftAt);
        await settledSoon();
        const call = await lastCall(owner);
        expect(call).to.include({ status: 'cancelled', billingBasis: 'estimated', completionTokens: 0 });
        expect(call.creditsCharged).to.be.at.most(call.promptTokens * INPUT_PRICE + 0.000_001);
        return closedAfterMs;
      });
    });
  });

  describe('whose upstream breaks off', () => {
    it('before the first token costs nothing, and says so', async () => {
      for (const directive of ['die_after=0', 'error_after=0', 'submit=no_id']) {
        const events = eventsIn(await (await stream(directive)).text());
        expect(events, directive).to.have.length(1);
        expect(JSON.parse(events[0] ?? '').error.code).to.match(/^upstream_(error|invalid_response)$/);
        expect(await lastCall(owner)).to.include({ status: 'failed', creditsCharged: 0 });
      }
    });

    it('later costs the prompt and what was delivered', async () => {
      for (const directive of ['die_after=7 tokens=50', 'error_after=7 tokens=50']) {
        const events = eventsIn(await (await stream(directive)).text());
        expect(contentsIn(events.map((event) => `data: ${event}\n\n`).join(''))).to.equal(7);
        expect(JSON.parse(events.at(-1) ?? '').error.request_id).to.be.a('string');
        const call = await lastCall(owner);
        expect(call).to.include({ status: 'failed', billingBasis: 'estimated', completionTokens: 7 });
        expectPrice(call.creditsCharged, call.promptTokens, 7);
      }
    });

    it('by silence is told with 504 before the answer, and within a stream that had begun', async () => {
      expectError(await ask(owner, 'outcome=stuck'), 504, 'upstream_timeout');
      const response = await stream('outcome=stuck tokens=3');
      const events = eventsIn(await response.text());
      expect(JSON.parse(events.at(-1) ?? '').error.code).to.equal('upstream_timeout');
      expect(await lastCall(owner)).to.include({ status: 'failed', completionTokens: 3 });
    });
  });

  it('of a key that was revoked a moment ago spends nothing, although the key is known', async () => {
    expect((await ask(owner)).status).to.equal(200);
    const before = await readBalance(owner);
    await owner.session.delete(`/api/keys/${owner.keyId}`);
    const word = uniqueWord();
    for (const fields of [{}, { stream: true }])
      expectError(await ask(owner, '', { messages: say('', word), ...fields }), 401, 'invalid_api_key');
    expect(await readBalance(owner)).to.deep.include({ balance: before.balance, reserved: 0 });
    expect(await readJournal(gateway.sandboxUrl, word)).to.have.length(0);
  });

  it('of a user who was disabled a moment ago is refused', async () => {
    expect((await ask(owner)).status).to.equal(200);
    await gateway.em().execute(sql`update app_user set disabled_at = now() where id = ${owner.id}`);
    expectError(await ask(owner), 403, 'account_disabled');
  });

  it('that says nothing for a while sends comments, which are no part of the answer', async () => {
    const usual = gateway.services.chat.streamLimits.commentEveryMs;
    gateway.services.chat.streamLimits.commentEveryMs = 100;
    try {
      const text = await (await stream('first=700 tokens=3 delay=400')).text();
      expect(text.match(/^: /gm)?.length).to.be.within(4, 20);
      expect(contentsIn(text)).to.equal(3);
      expect(eventsIn(text).at(-1)).to.equal('[DONE]');
    } finally {
      gateway.services.chat.streamLimits.commentEveryMs = usual;
    }
    expect(usual).to.equal(10_000);
  });
});

/** Number of events that carry text. */
function contentsIn(text: string): number {
  return text.match(/"content":"[^"]/g)?.length ?? 0;
}

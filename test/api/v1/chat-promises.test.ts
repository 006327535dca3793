// What chat calls promise, whatever caller and upstream do: the charge, and how soon they end.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import {
  ask,
  CHAT_MODEL,
  eventsIn,
  expectPrice,
  INPUT_PRICE,
  isSettled,
  lastCall,
  openStream,
  readBalance,
  readCalls,
  readUntil,
  say,
} from '../../support/chat.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { readJournal } from '../../support/servers/sandbox.ts';
import { uniqueWord } from '../../support/tasks.ts';
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
    }).timeout(60_000);

    it('before the upstream accepted it costs nothing, and the upstream is left at once', async () => {
      for (const streamed of [true, false]) {
        const word = uniqueWord();
        const leaving = new AbortController();
        const answer = stream('submit=hang', word, { stream: streamed }, leaving.signal).catch(() => 'left');
        await until(
          'the upstream is asked',
          async () => (await readJournal(gateway.sandboxUrl, word)).length > 0,
        );
        const leftAt = Date.now();
        leaving.abort();
        expect(await answer).to.equal('left');
        expect(await upstreamClosedAfter(word, leftAt)).to.be.below(200);
        await settledSoon();
        expect(await lastCall(owner)).to.include({ status: 'cancelled', creditsCharged: 0, errorCode: null });
      }
    });

    it('before the first token costs the prompt at the most, and the upstream is left at once', async () => {
      const word = uniqueWord();
      const leaving = new AbortController();
      await stream('first=5000', word, {}, leaving.signal);
      const leftAt = Date.now();
      leaving.abort();
      expect(await upstreamClosedAfter(word, leftAt)).to.be.below(200);
      await settledSoon();
      const call = await lastCall(owner);
      expect(call).to.include({ status: 'cancelled', billingBasis: 'estimated', completionTokens: 0 });
      expect(call.creditsCharged).to.be.at.most(call.promptTokens * INPUT_PRICE + 0.000_001);
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
    }).timeout(10_000);
  });

  describe('is charged', () => {
    it('at most what was set aside, whatever the upstream says', async () => {
      for (const streamed of [false, true]) {
        await (await stream('usage=triple tokens=10', '', { stream: streamed, max_tokens: 10 })).text();
        const [call] = (await readCalls(gateway, owner)).slice(-1);
        expect(BigInt(call?.charged ?? 0)).to.satisfy(
          (charged: bigint) => charged <= BigInt(call?.reserved ?? 0),
        );
        expect(call, 'more than was asked for cannot be true').to.include({ basis: 'estimated' });
      }
      const { body } = await ask(owner, 'usage=triple tokens=10');
      expect(body.usage.completion_tokens).to.equal(30);
      expect(body.usage.credits_charged).to.be.at.most(body.usage.credits_estimate);
    });

    it('for every answer with n > 1, and sets so much aside', async () => {
      const one = (await ask(owner, 'tokens=10', { max_tokens: 100 })).body.usage;
      const { usage, choices } = (await ask(owner, 'tokens=10', { max_tokens: 100, n: 3 })).body;
      expect(choices).to.have.length(3);
      expect(usage.completion_tokens).to.equal(30);
      expectPrice(usage.credits_charged, usage.prompt_tokens, 30);
      expect(usage.credits_estimate - one.credits_estimate).to.be.closeTo((200 * 100) / 1_000_000, 0.000_001);
      const events = eventsIn(await (await stream('tokens=10', '', { n: 3 })).text());
      expect(JSON.parse(events.at(-2) ?? '').usage.completion_tokens).to.equal(30);
    });

    it('less for what the upstream had in its cache, and more for what it wrote there', async () => {
      const messages = say('tokens=10', `${uniqueWord()} ${'word '.repeat(500)}`);
      const params = { messages, prompt_cache_key: 'one', model: CHAT_MODEL };
      const { usage: plain } = (await ask(owner, '', { messages })).body;
      const { usage: written } = (await ask(owner, '', params)).body;
      const { usage: read } = (await ask(owner, '', params)).body;
      const parts = [plain, written, read].map(({ prompt_tokens_details: details }) => details);
      expect(parts.map(({ cached_tokens: cached }) => cached > 0)).to.deep.equal([false, false, true]);
      const ofPrompt = [plain, written, read].map(({ credits_charged: credits }) => credits - 0.001);
      const tokens = plain.prompt_tokens;
      for (const [index, price] of [20, 25, 2].entries())
        expect(ofPrompt[index]).to.be.closeTo((tokens * price) / 1_000_000, 0.000_002);
      expect(written.credits_charged).to.be.at.most(written.credits_estimate);
    });

    it('at the prices of long prompts beyond 272,000 tokens', async () => {
      const messages = [{ role: 'user', content: 'word '.repeat(150_000) }];
      const { usage } = (await ask(owner, '', { messages })).body;
      expectPrice(usage.credits_charged, usage.prompt_tokens, usage.completion_tokens);
      // The most that fits into a body of 1 MiB, and has to be reserved for.
      expect(usage.credits_estimate).to.be.at.least((usage.prompt_tokens * 50) / 1_000_000);
    }).timeout(20_000);
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
    const usual = gateway.services.chat.commentEveryMs;
    gateway.services.chat.commentEveryMs = 100;
    try {
      const text = await (await stream('first=700 tokens=3 delay=400')).text();
      expect(text.match(/^: /gm)?.length).to.be.within(4, 20);
      expect(contentsIn(text)).to.equal(3);
      expect(eventsIn(text).at(-1)).to.equal('[DONE]');
    } finally {
      gateway.services.chat.commentEveryMs = usual;
    }
    expect(usual).to.equal(10_000);
  });

  describe('is refused before anything is set aside', () => {
    const picture = (url: string) => [{ type: 'image_url', image_url: { url } }];
    const cases: [title: string, fields: object, status: number, code: string, param: string][] = [
      ['two limits', { max_tokens: 5, max_completion_tokens: 6 }, 400, 'conflicting_params', 'max_tokens'],
      [
        'a cache for twelve hours',
        { prompt_cache_retention: '12h' },
        400,
        'invalid_value',
        'prompt_cache_retention',
      ],
      ['a search in the web', { web_search_options: {} }, 400, 'invalid_value', 'web_search_options'],
      ['an answer that is spoken', { modalities: ['text', 'audio'] }, 400, 'invalid_value', 'modalities'],
      ['a dearer tier', { service_tier: 'scale' }, 400, 'invalid_value', 'service_tier'],
      [
        'sound in a message',
        { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
        400,
        'invalid_value',
        'messages[0].content[0].type',
      ],
      ...['http://169.254.169.254/', 'http://127.0.0.1/', 'file:///etc/passwd', 'https://[::1]/a.png'].map(
        (url): [string, object, number, string, string] => [
          url,
          { messages: [{ role: 'user', content: picture(url) }] },
          400,
          'url_not_allowed',
          'messages[0].content[0].image_url.url',
        ],
      ),
    ];
    for (const [title, fields, status, code, param] of cases)
      it(title, async () => {
        expectError(await ask(owner, '', fields), status, code, param);
        expect(await readCalls(gateway, owner)).to.deep.equal([]);
        expect(await isSettled(owner)).to.equal(true);
      });
  });

  it('holds an answer to the limit that counts, when the other one is null', async () => {
    const { body } = await ask(owner, 'tokens=5000', { max_tokens: 6000, max_completion_tokens: null });
    expect(body.usage.completion_tokens).to.equal(5000);
    expect(body.usage.credits_estimate).to.be.at.least((6000 * 100) / 1_000_000);
    expectPrice(body.usage.credits_charged, body.usage.prompt_tokens, 5000);
  });

  it('sets aside for a file what it can have at the most', async () => {
    const file = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${'A'.repeat(300_000)}` };
    const content = [{ type: 'file', file }];
    const { body } = await ask(owner, '', { messages: [{ role: 'user', content }], max_tokens: 10 });
    expect(body.usage.credits_estimate).to.be.at.least((200_000 * 20) / 1_000_000);
  });
});

/** Number of events with text. */
function contentsIn(text: string): number {
  return text.match(/"content":"[^"]/g)?.length ?? 0;
}

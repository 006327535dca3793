// What chat calls set aside and are charged, and what is refused before anything is set aside.
import { expect } from 'chai';
import {
  ask,
  CHAT_MODEL,
  eventsIn,
  expectPrice,
  isSettled,
  openStream,
  readCalls,
  say,
} from '../../support/chat.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { uniqueWord } from '../../support/tasks.ts';

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

  describe('is charged', () => {
    it('at most what was set aside, whatever the upstream says', async () => {
      for (const streamed of [false, true]) {
        await (await stream('usage=triple tokens=100', '', { stream: streamed, max_tokens: 100 })).text();
        const [call] = (await readCalls(gateway, owner)).slice(-1);
        expect(BigInt(call?.charged ?? 0)).to.satisfy(
          (charged: bigint) => charged <= BigInt(call?.reserved ?? 0),
        );
        expect(call, 'it is believed, and the rest is a loss').to.include({ basis: 'upstream' });
        expect(call?.charged).to.equal(call?.reserved);
        expect(BigInt(call?.loss ?? 0) > 0n).to.equal(true);
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

    it('from what a field that is not known holds, too: 402 to a user whose credits do not cover it', async () => {
      const poor = await gateway.createUser(1);
      const text = 'some words '.repeat(30_000);
      const messages = say();
      for (const fields of [
        { foo: { type: text } },
        { foo: Array.from({ length: 90_000 }, () => 7) },
        { messages: [{ ...messages[0], extra: { role: text } }] },
        { metadata: { [text]: true } },
      ])
        expectError(await ask(poor, '', { max_tokens: 1, ...fields }), 402, 'insufficient_credits', null);
      expect((await ask(poor, '', { max_tokens: 1, metadata: { order: '7' } })).status).to.equal(200);
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
      const { usage } = (await ask(owner, '', { messages, max_tokens: 100 })).body;
      expectPrice(usage.credits_charged, usage.prompt_tokens, usage.completion_tokens);
      // The most that fits into a body of 1 MiB, and has to be reserved for.
      expect(usage.credits_estimate).to.be.at.least((usage.prompt_tokens * 50) / 1_000_000);
      expect(usage.credits_estimate).to.be.at.most((750_000 * 50) / 1_000_000);
    });
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
      [
        'a cache that lives for a day',
        { prompt_cache_options: { ttl: '24h' } },
        400,
        'invalid_value',
        'prompt_cache_options',
      ],
      ['a search in the web', { web_search_options: {} }, 400, 'invalid_value', 'web_search_options'],
      ['an answer that is spoken', { modalities: ['text', 'audio'] }, 400, 'invalid_value', 'modalities'],
      ...(
        [
          ['search_parameters', { mode: 'on' }],
          ['plugins', [{ id: 'web' }]],
          ['models', ['gpt-6-astra']],
          ['provider', { order: ['dear'] }],
          ['enable_search', true],
          ['prediction', { type: 'content', content: 'some words' }],
          ['best_of', 8],
          ['chat_template', '{% for i in range(100000) %}word {% endfor %}'],
          ['mm_processor_kwargs', { min_pixels: 100_000_000 }],
          ['vl_high_resolution_images', true],
        ] as const
      ).map(([field, value]): [string, object, number, string, string] => [
        `a field that buys more: ${field}`,
        { [field]: value },
        400,
        'invalid_value',
        field,
      ]),
      ['a tool of the vendor', { tools: [{ type: 'web_search' }] }, 400, 'invalid_value', 'tools[0].type'],
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
});

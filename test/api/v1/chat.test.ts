// POST /v1/chat/completions on the sandbox: answers, streams, errors, and what each of them costs.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import OpenAI from 'openai';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';

const MODEL = 'gpt-6-luna';
/** Credits per token: 0.10 USD and 0.50 USD per million tokens. */
const INPUT = 20 / 1_000_000;
const OUTPUT = 100 / 1_000_000;

describe('POST /v1/chat/completions', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_UPSTREAM_TIMEOUT_SECONDS: '2' } });
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());
  after(() => gateway.stop());

  function ask(directive = '', fields: object = {}) {
    return owner.key.post('/v1/chat/completions', { model: MODEL, messages: say(directive), ...fields });
  }

  it('answers as OpenAI does, with what was set aside and what it cost in its usage', async () => {
    const { status, body, headers } = await ask('tokens=10');
    expect(status).to.equal(200);
    expect(body).to.include({ object: 'chat.completion' });
    expect(body.choices[0].message.content).to.be.a('string').that.is.not.empty;
    expect(headers.get('cache-control')).to.equal('no-store');
    const { prompt_tokens: prompt, completion_tokens: completion, credits_charged: charged } = body.usage;
    expect(completion).to.equal(10);
    expect(charged).to.be.closeTo(prompt * INPUT + completion * OUTPUT, 0.000_001);
    expect(body.usage.credits_estimate).to.be.at.least(charged);
    expect(await lastCall()).to.include({
      status: 'completed',
      billingBasis: 'upstream',
      creditsCharged: charged,
      promptTokens: prompt,
      completionTokens: completion,
    });
  });

  it('streams chunks, then the usage with the credits, then [DONE]', async () => {
    const events = await stream('tokens=5');
    const last = JSON.parse(events.at(-2) ?? '');
    expect(events.at(-1)).to.equal('[DONE]');
    expect(last.choices).to.deep.equal([]);
    expect(last.usage).to.include({ completion_tokens: 5 });
    expect(last.usage.credits_charged).to.be.greaterThan(0);
    expect(events.length).to.be.at.least(7);
    expect(await lastCall()).to.include({ status: 'completed', stream: true, billingBasis: 'upstream' });
  });

  it('keeps the usage to itself when the caller does not want it', async () => {
    const events = await stream('tokens=3', { stream_options: { include_usage: false } });
    expect(events.at(-1)).to.equal('[DONE]');
    for (const event of events.slice(0, -1)) expect(JSON.parse(event).usage ?? null).to.equal(null);
    expect(await lastCall()).to.include({ billingBasis: 'upstream', completionTokens: 3 });
  });

  it('refuses what is wrong before anything is set aside', async () => {
    const cases: [fields: object, status: number, code: string, param: string][] = [
      [{ model: undefined }, 400, 'missing_field', 'model'],
      [{ model: 'no-such-model' }, 404, 'model_not_found', 'model'],
      [{ model: 'gpt-image-2' }, 400, 'model_not_supported', 'model'],
      [{ messages: undefined }, 400, 'missing_field', 'messages'],
      [{ messages: [] }, 400, 'invalid_value', 'messages'],
      [{ messages: [{ role: 'king', content: 'x' }] }, 400, 'invalid_value', 'messages[0].role'],
      [{ stream: 'true' }, 400, 'invalid_value', 'stream'],
      [{ max_tokens: 0 }, 400, 'invalid_value', 'max_tokens'],
      [{ max_completion_tokens: 1e9 }, 400, 'invalid_value', 'max_completion_tokens'],
      [{ n: 100 }, 400, 'invalid_value', 'n'],
      [{ service_tier: 'priority' }, 400, 'invalid_value', 'service_tier'],
    ];
    for (const [fields, status, code, param] of cases)
      expectError(await ask('', fields), status, code, param);
    const url = { url: 'http://169.254.169.254/' };
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: url }] }];
    const place = 'messages[0].content[0].image_url.url';
    expectError(await ask('', { messages }), 400, 'url_not_allowed', place);
    const [row] = await gateway
      .em()
      .execute<{ open: string }[]>(sql`select count(*) as open from reservation where state = 'open'`);
    expect(row?.open).to.equal('0');
  });

  it('says 402 to whoever has too little, and names what is needed', async () => {
    const poor = await gateway.createUser('0.0001');
    const answer = await poor.key.post('/v1/chat/completions', { model: MODEL, messages: say('') });
    expectError(answer, 402, 'insufficient_credits');
    expect(answer.body.error).to.include({ available: 0.0001 });
    expect(answer.body.error.required).to.be.greaterThan(0.0001);
  });

  describe('when the upstream fails', () => {
    const cases: [directive: string, status: number, code: string][] = [
      ['submit=400', 400, 'upstream_rejected'],
      ['submit=401', 502, 'upstream_error'],
      ['submit=402', 502, 'upstream_error'],
      ['submit=403', 502, 'upstream_error'],
      ['submit=429', 503, 'upstream_rate_limited'],
      ['submit=500', 502, 'upstream_error'],
      ['submit=503', 502, 'upstream_error'],
      ['submit=reset', 502, 'upstream_error'],
      ['submit=hang', 504, 'upstream_timeout'],
      ['submit=html', 502, 'upstream_invalid_response'],
      ['submit=truncated', 502, 'upstream_error'],
      ['outcome=fail reason=moderation', 400, 'content_rejected'],
    ];
    for (const [directive, status, code] of cases)
      it(`answers ${status} ${code} with ${directive}, and charges nothing`, async () => {
        const before = await available();
        const answer = await ask(directive);
        expectError(answer, status, code);
        if (status === 503) expect(Number(answer.headers.get('retry-after'))).to.be.at.least(1);
        expect(answer.headers.get('x-ratelimit-backend')).to.equal(null);
        expect(await available()).to.equal(before);
        expect(await lastCall()).to.include({ status: 'failed', creditsCharged: 0, billingBasis: 'none' });
      });

    it('tells the reason without what is nobody’s business', async () => {
      const { body } = await ask('submit=400 text=leaky');
      expect(body.error.message).to.match(/^The provider refused this request\./);
      expect(body.error.message).not.to.match(/https?:\/\/|@|\/home|data:image|\d+\.\d+\.\d+/);
    });
  });

  describe('when a stream breaks off', () => {
    it('charges nothing before the first token, and says so in the stream', async () => {
      const before = await available();
      const events = await stream('die_after=0');
      expect(JSON.parse(events.at(-1) ?? '').error).to.include({ code: 'upstream_error' });
      expect(await available()).to.equal(before);
      expect(await lastCall()).to.include({ status: 'failed', billingBasis: 'none' });
    });

    for (const directive of ['die_after=6 tokens=20', 'error_after=6 tokens=20'])
      it(`charges what was delivered with ${directive}`, async () => {
        const events = await stream(directive);
        expect(JSON.parse(events.at(-1) ?? '').error).to.include({ code: 'upstream_error' });
        const call = await lastCall();
        expect(call).to.include({ status: 'failed', billingBasis: 'estimated', errorCode: 'upstream_error' });
        expect(call.completionTokens).to.be.within(1, 12);
        expect(call.creditsCharged).to.be.greaterThan(0);
      });
  });

  describe('when the usage cannot be believed', () => {
    for (const usage of ['missing', 'negative', 'huge', 'text'])
      it(`counts itself with usage=${usage}, whole and streamed`, async () => {
        const { body } = await ask(`usage=${usage} tokens=10`);
        expect(body.usage.credits_charged).to.be.greaterThan(0).and.at.most(body.usage.credits_estimate);
        expect(await lastCall()).to.include({ status: 'completed', billingBasis: 'estimated' });
        await stream(`usage=${usage} tokens=10`);
        expect(await lastCall()).to.include({ status: 'completed', billingBasis: 'estimated' });
      });

    it('believes a zero', async () => {
      const { body } = await ask('usage=zero');
      expect(body.usage.credits_charged).to.equal(0);
      expect(await lastCall()).to.include({ billingBasis: 'upstream', creditsCharged: 0 });
    });
  });

  describe('when the caller leaves', () => {
    it('charges nothing before the upstream has answered, and tells the upstream at once', async () => {
      const before = await available();
      await leaveAfter('submit=hang', () => Promise.resolve(), true);
      await until('the call is settled', async () => (await openReservations()) === 0);
      expect(await available()).to.equal(before);
      expect(await lastCall()).to.include({ status: 'cancelled', billingBasis: 'none' });
    });

    it('charges what the upstream has delivered by then', async () => {
      await leaveAfter('tokens=1000 delay=20', (reader) => readSome(reader, 3));
      await until('the call is settled', async () => (await openReservations()) === 0);
      const call = await lastCall();
      expect(call).to.include({ status: 'cancelled', billingBasis: 'estimated' });
      expect(call.completionTokens).to.be.within(1, 40);
    });
  });

  it('lets exactly as many of 100 parallel calls through as the credits are for', async () => {
    const fields = { max_tokens: 100 };
    const { body } = await ask('seconds=1.5', fields);
    const one: number = body.usage.credits_estimate;
    const user = await gateway.createUser((one * 10).toFixed(6));
    const params = { model: MODEL, messages: say('seconds=1.5'), ...fields };
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => user.key.post('/v1/chat/completions', params)),
    );
    const count = (status: number): number => answers.filter((answer) => answer.status === status).length;
    expect(
      [count(200), count(402)],
      JSON.stringify(answers.find(({ status }) => ![200, 402].includes(status))?.body),
    ).to.deep.equal([10, 90]);
  });

  it('repeats the answer of an Idempotency-Key, whole and streamed, and charges once', async () => {
    for (const fields of [{}, { stream: true }]) {
      const headers = { 'idempotency-key': `chat-${JSON.stringify(fields)}` };
      const params = { model: MODEL, messages: say('tokens=4'), ...fields };
      const first = await owner.key.post('/v1/chat/completions', params, headers);
      const before = await available();
      const again = await owner.key.post('/v1/chat/completions', params, headers);
      expect(again.headers.get('idempotent-replayed')).to.equal('true');
      expect(again.status).to.equal(200);
      expect(again.headers.get('content-type')).to.equal(first.headers.get('content-type'));
      expect(again.body).to.deep.equal(first.body);
      expect(await available()).to.equal(before);
    }
  });

  it('works with the official client', async () => {
    const client = new OpenAI({ apiKey: owner.apiKey, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 });
    const answer = await client.chat.completions.create({ model: MODEL, messages: say('tokens=4') });
    expect(answer.choices[0]?.message.content).to.be.a('string');
    let text = '';
    const chunks = await client.chat.completions.create({
      model: MODEL,
      messages: say('tokens=4'),
      stream: true,
    });
    for await (const chunk of chunks) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).not.to.equal('');
    const failure = await client.chat.completions
      .create({ model: 'no-such-model', messages: say('') })
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(OpenAI.NotFoundError);
  });

  async function stream(directive: string, fields: object = {}): Promise<string[]> {
    const response = await open(directive, fields);
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    return eventsIn(await response.text());
  }

  function open(directive: string, fields: object = {}, signal?: AbortSignal): Promise<Response> {
    return fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, messages: say(directive), stream: true, ...fields }),
      ...(signal && { signal }),
    });
  }

  type Reader = ReadableStreamDefaultReader<Uint8Array>;

  async function leaveAfter(
    directive: string,
    read: (reader: Reader) => Promise<void>,
    beforeTheAnswer = false,
  ): Promise<void> {
    const leaving = new AbortController();
    const response = open(directive, {}, leaving.signal);
    if (beforeTheAnswer) {
      await until('credits are set aside', async () => (await openReservations()) > 0);
      leaving.abort();
      await response.catch(() => undefined);
      return;
    }
    const reader = (await response).body?.getReader();
    if (!reader) throw new Error('there is no body');
    await read(reader);
    leaving.abort();
  }

  async function readSome(reader: Reader, pieces: number): Promise<void> {
    for (let read = 0; read < pieces; read += 1) await reader.read();
  }

  async function openReservations(): Promise<number> {
    const [row] = await gateway
      .em()
      .execute<{ open: string }[]>(sql`select count(*) as open from reservation where state = 'open'`);
    return Number(row?.open);
  }

  async function lastCall() {
    const { body } = await owner.session.get('/api/usage?limit=1');
    return body.data[0];
  }

  async function available(): Promise<number> {
    return (await owner.key.get('/v1/balance')).body.data.available;
  }
});

function say(directive: string) {
  const content = `Say something. ${directive === '' ? '' : `[[sandbox ${directive}]]`}`;
  return [{ role: 'user' as const, content }];
}

function eventsIn(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
}

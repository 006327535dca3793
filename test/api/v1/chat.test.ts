// POST /v1/chat/completions on the sandbox: answers, streams, refusals, and what each of them costs.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import OpenAI from 'openai';
import {
  ask,
  CHAT_MODEL,
  eventsIn,
  INPUT_PRICE,
  lastCall,
  openStream,
  OUTPUT_PRICE,
  readUntil,
  say,
} from '../../support/chat.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';

describe('POST /v1/chat/completions', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_UPSTREAM_TIMEOUT_SECONDS: '2' } });
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());
  after(() => gateway.stop());

  it('answers as OpenAI does, with what was set aside and what it cost in its usage', async () => {
    const { status, body, headers } = await ask(owner, 'tokens=10');
    expect(status).to.equal(200);
    expect(body).to.include({ object: 'chat.completion' });
    expect(body.choices[0].message.content).to.be.a('string').that.is.not.empty;
    expect(headers.get('cache-control')).to.equal('no-store');
    const { prompt_tokens: prompt, completion_tokens: completion, credits_charged: charged } = body.usage;
    expect(completion).to.equal(10);
    expect(charged).to.be.closeTo(prompt * INPUT_PRICE + completion * OUTPUT_PRICE, 0.000_001);
    expect(body.usage.credits_estimate).to.be.at.least(charged);
    expect(await lastCall(owner)).to.include({
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
    expect(await lastCall(owner)).to.include({ status: 'completed', stream: true, billingBasis: 'upstream' });
  });

  it('keeps the usage to itself when the caller does not want it', async () => {
    const events = await stream('tokens=3', { stream_options: { include_usage: false } });
    expect(events.at(-1)).to.equal('[DONE]');
    for (const event of events.slice(0, -1)) expect(JSON.parse(event).usage ?? null).to.equal(null);
    expect(await lastCall(owner)).to.include({ billingBasis: 'upstream', completionTokens: 3 });
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
      expectError(await ask(owner, '', fields), status, code, param);
    const url = { url: 'http://169.254.169.254/' };
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: url }] }];
    const place = 'messages[0].content[0].image_url.url';
    expectError(await ask(owner, '', { messages }), 400, 'url_not_allowed', place);
    const [row] = await gateway
      .em()
      .execute<{ open: string }[]>(sql`select count(*) as open from chat_call where status = 'open'`);
    expect(row?.open).to.equal('0');
  });

  it('says 402 to whoever has too little, and names what is needed', async () => {
    const poor = await gateway.createUser('0.0001');
    const answer = await poor.key.post('/v1/chat/completions', { model: CHAT_MODEL, messages: say('') });
    expectError(answer, 402, 'insufficient_credits');
    expect(answer.body.error).to.include({ available: 0.0001 });
    expect(answer.body.error.required).to.be.greaterThan(0.0001);
  });

  it('lets exactly as many of 100 parallel calls through as the credits are for', async () => {
    const fields = { max_tokens: 100 };
    // The calls that pass hold their credits until the last of the others has asked.
    const { body } = await ask(owner, 'tokens=60 delay=10', fields);
    const one: number = body.usage.credits_estimate;
    const user = await gateway.createUser((one * 10).toFixed(6));
    const params = { model: CHAT_MODEL, messages: say('tokens=60 delay=99'), ...fields, stream: true };
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
      const params = { model: CHAT_MODEL, messages: say('tokens=4'), ...fields };
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

  it('ends a stream with an Idempotency-Key when a repeat would get the same, not before', async () => {
    const params = { directive: 'tokens=30 delay=10', headers: { 'idempotency-key': 'kept-before-the-end' } };
    const response = await openStream(gateway.baseUrl, owner, params);
    let text = await readUntil(response, (read) => read.includes('data: '));
    const isOver = (): boolean => text.includes('[DONE]');
    const reading = Promise.withResolvers<void>();
    await gateway.em().transactional(async (em) => {
      await em.execute('lock table idempotency_key in share mode');
      void readUntil(response, (read) => read.includes('[DONE]'))
        .then((rest) => (text += rest))
        .then(() => reading.resolve(), reading.reject);
      await until('the answer waits to be kept', async () => {
        const waiting = await gateway.em().execute<object[]>(`
          select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%move_calls%'`);
        return waiting.length > 0;
      });
      expect(isOver()).to.equal(false);
    });
    await reading.promise;
    expect(isOver()).to.equal(true);
    const again = await openStream(gateway.baseUrl, owner, params);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(await again.text()).to.equal(text);
  });

  it('works with the official client', async () => {
    const client = new OpenAI({ apiKey: owner.apiKey, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 });
    const answer = await client.chat.completions.create({ model: CHAT_MODEL, messages: say('tokens=4') });
    expect(answer.choices[0]?.message.content).to.be.a('string');
    let text = '';
    const chunks = await client.chat.completions.create({
      model: CHAT_MODEL,
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
    const response = await openStream(gateway.baseUrl, owner, { directive, fields });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    return eventsIn(await response.text());
  }

  async function available(): Promise<number> {
    return (await owner.key.get('/v1/balance')).body.data.available;
  }
});

// POST /v1/responses without a client: what is refused, repeated, asked of which upstream, and recorded.
import { expect } from 'chai';
import type { ErrorCode } from '../../../domain/errors.ts';
import { CHAT_MODEL, lastCall, readBalance, readCalls } from '../../support/chat.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { PNG_DATA_URI } from '../../support/inputs.ts';
import {
  catalogWithTranslatedModel,
  inputOf,
  respond,
  RESPONSES,
  TRANSLATED_MODEL,
} from '../../support/responses.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { readJournal } from '../../support/servers/sandbox.ts';
import { uniqueWord } from '../../support/tasks.ts';

describe('POST /v1/responses', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    const env = { ...catalogWithTranslatedModel(cleanup), OPENAI_API_KEY: 'first,second' };
    gateway = await startGateway({ worker: false, env });
    cleanup.later(() => gateway.stop());
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());
  after(() => cleanup.run());

  const stream = async (fields: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${gateway.baseUrl}${RESPONSES}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${owner.apiKey}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({ model: CHAT_MODEL, input: inputOf('tokens=3'), stream: true, ...fields }),
    });

  const refused: [what: string, fields: object, code: ErrorCode, param: string | null][] = [
    ['an input that is missing', { input: undefined }, 'missing_field', 'input'],
    ['an empty input', { input: [] }, 'invalid_value', 'input'],
    ['storing', { store: true }, 'invalid_value', 'store'],
    ['an earlier response', { previous_response_id: 'resp_1' }, 'invalid_value', 'previous_response_id'],
    ['a conversation', { conversation: 'conv_1' }, 'invalid_value', 'conversation'],
    ['work in the background', { background: true }, 'invalid_value', 'background'],
    ['a stored prompt', { prompt: { id: 'pmpt_1' } }, 'invalid_value', 'prompt'],
    ['a tool of the vendor', { tools: [{ type: 'web_search' }] }, 'invalid_value', 'tools[0].type'],
    ['what no model includes', { include: ['file_search_call.results'] }, 'invalid_value', 'include[0]'],
    [
      'a reference to an item',
      { input: [{ type: 'item_reference', id: 'msg_1' }] },
      'invalid_value',
      'input[0].type',
    ],
    ['a role that is none', { input: [{ role: 'tool', content: 'x' }] }, 'invalid_value', 'input[0].role'],
    [
      'a call without its id',
      { input: [{ type: 'function_call', name: 'f', arguments: '' }] },
      'missing_field',
      'input[0].call_id',
    ],
    [
      'a file',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] },
      'invalid_value',
      'input[0].content[0].type',
    ],
    [
      'a picture by its id',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }] },
      'invalid_value',
      'input[0].content[0].file_id',
    ],
    [
      'a picture in a private network',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://127.0.0.1/x.png' }] }] },
      'url_not_allowed',
      'input',
    ],
    [
      'a picture that is none',
      {
        input: [{ role: 'user', content: [{ type: 'input_image', image_url: PNG_DATA_URI.slice(0, 60) }] }],
      },
      'invalid_image',
      'input[0].content[0].image_url',
    ],
    ['too long an answer', { max_output_tokens: 10_000_000 }, 'invalid_value', 'max_output_tokens'],
    ['a dearer service', { service_tier: 'priority' }, 'invalid_value', 'service_tier'],
    ['a form that is none', { text: { format: { type: 'xml' } } }, 'invalid_value', 'text.format.type'],
    ['a model of pictures', { model: 'gpt-image-2' }, 'model_not_supported', 'model'],
  ];
  for (const [what, fields, code, param] of refused)
    it(`refuses ${what}, and sets nothing aside`, async () => {
      const before = await readBalance(owner);
      expectError(await respond(owner, fields), 400, code, param);
      expect(await readBalance(owner)).to.deep.equal(before);
    });

  for (const [what, fields, param] of [
    ['log probabilities', { include: ['message.output_text.logprobs'] }, 'include'],
    ['truncation', { truncation: 'auto' }, 'truncation'],
    ['a promised summary', { reasoning: { summary: 'detailed' } }, 'reasoning.summary'],
  ] as const)
    it(`refuses ${what} where chat completions have no word for it, and passes it on elsewhere`, async () => {
      expectError(await respond(owner, { ...fields, model: TRANSLATED_MODEL }), 400, 'invalid_value', param);
      expect((await respond(owner, fields)).status).to.equal(200);
    });

  it('takes store: false, background: false and null for what is not wanted', async () => {
    const fields = { store: false, background: false, previous_response_id: null, tools: null };
    const { status, body } = await respond(owner, { ...fields, anything: 'else' });
    expect([status, body.store]).to.deep.equal([200, false]);
  });

  it('tells the vendor to store nothing, and who the user is', async () => {
    const { body } = await respond(owner, { prompt_cache_key: 'mine', user: 'me' });
    expect(body.store).to.equal(false);
    expect(JSON.stringify(body)).not.to.include(owner.id);
  });

  it('says 402 to a user who has too little', async () => {
    const poor = await gateway.createUser(0);
    const answer = await respond(poor, {});
    expectError(answer, 402, 'insufficient_credits', null);
    expect(answer.body.error.required).to.be.above(0);
  });

  it('says 402 to a user who has too little for fields that are passed on and not known', async () => {
    const poor = await gateway.createUser(1);
    const text = 'some words '.repeat(30_000);
    const message = { role: 'user', content: inputOf() };
    for (const fields of [
      { foo: { type: text } },
      { input: [message, { type: 'reasoning', summary: [{ type: 'summary_text', text }] }] },
      { input: [{ ...message, extra: { role: text } }] },
      { reasoning: { effort: 'low', extra: text } },
    ])
      expectError(
        await respond(poor, { max_output_tokens: 1, ...fields }),
        402,
        'insufficient_credits',
        null,
      );
    expect((await respond(poor, { max_output_tokens: 1, input: [message] })).status).to.equal(200);
  });

  for (const model of [CHAT_MODEL, TRANSLATED_MODEL])
    it(`repeats the answer of an Idempotency-Key and charges once, whole and streamed: ${model}`, async () => {
      const user = await gateway.createUser();
      owner = user;
      const whole = { 'idempotency-key': `whole-${model}` };
      const first = await respond(user, { model }, whole);
      const again = await respond(user, { model }, whole);
      expect(again.body).to.deep.equal(first.body);
      expect(again.headers.get('idempotent-replayed')).to.equal('true');
      expectError(await respond(user, { model, input: 'other' }, whole), 422, 'idempotency_key_reused');
      const streamed = { 'idempotency-key': `stream-${model}` };
      const text = await (await stream({ model }, streamed)).text();
      const repeat = await stream({ model }, streamed);
      expect(await repeat.text()).to.equal(text);
      expect(repeat.headers.get('content-type')).to.match(/^text\/event-stream/);
      expect(await readCalls(gateway, user)).to.have.length(2);
      const { creditsCharged } = await lastCall(user);
      const [last] = text.trim().split('\n').slice(-1);
      expect(JSON.parse(last?.slice('data: '.length) ?? '').response.usage.credits_charged).to.equal(
        creditsCharged,
      );
    });

  it('asks the next account when the first fails before anything was delivered', async () => {
    for (const directive of ['submit=503*1', 'submit=500*1', 'submit=429*1']) {
      const word = uniqueWord();
      const { status } = await respond(owner, { input: inputOf(directive, word) });
      expect(status, directive).to.equal(200);
      const entries = await readJournal(gateway.sandboxUrl, word);
      expect(entries.map(({ path }) => path.split('/').at(-1))).to.deep.equal(['responses', 'responses']);
      expect((await readCalls(gateway, owner)).at(-1)?.tried.map(({ outcome }) => outcome)).to.have.length(2);
    }
  });

  it('does not pass on what the vendor says of itself, nor its name of the model', async () => {
    const leaky = await respond(owner, { input: inputOf('outcome=fail reason=invalid text=leaky') });
    expectError(leaky, 400, 'upstream_rejected', null);
    expect(leaky.body.error.message).not.to.match(/https?:|sk-|@/);
    const text = await (await stream({ model: TRANSLATED_MODEL })).text();
    expect(text).to.include(`"model":"${TRANSLATED_MODEL}"`).and.not.to.include(`"model":"${CHAT_MODEL}"`);
  });

  it('ends a stream that breaks off with error and response.failed', async () => {
    for (const model of [CHAT_MODEL, TRANSLATED_MODEL]) {
      const text = await (await stream({ model, input: inputOf('die_after=2 tokens=9') })).text();
      const events = text
        .split('\n')
        .filter((line) => line.startsWith('data: '))
        .map((line) => JSON.parse(line.slice('data: '.length)));
      const [error, failed] = events.slice(-2);
      expect(error).to.include({ type: 'error', code: 'upstream_error', param: null });
      expect(failed.type).to.equal('response.failed');
      expect(failed.response).to.deep.include({
        status: 'failed',
        error: { code: error.code, message: error.message },
      });
      expect(events.map((event) => event.sequence_number)).to.deep.equal([...events.keys()]);
    }
  });
});

// POST /v1/responses with OpenAI's client for Node, at upstreams that speak Responses and at others.
import { expect } from 'chai';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type { Response, ResponseInput, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { z } from 'zod';
import { CHAT_MODEL, lastCall } from '../../support/chat.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { failureOf, openClient } from '../../support/http/openai-client.ts';
import { PNG_DATA_URI } from '../../support/inputs.ts';
import { catalogWithTranslatedModel, inputOf, TRANSLATED_MODEL } from '../../support/responses.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { readJournal } from '../../support/servers/sandbox.ts';
import { uniqueWord } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';

const CITY = z.object({ city: z.string(), days: z.number() });
const TOOL = {
  type: 'function',
  name: 'weather',
  description: 'Tells the weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: null,
} as const;

describe('Responses with OpenAI’s client for Node', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;
  let owner: TestUser;
  let client: OpenAI;

  before(async () => {
    const env = { ...catalogWithTranslatedModel(cleanup), SVC_UPSTREAM_TIMEOUT_SECONDS: '1' };
    gateway = await startGateway({ worker: false, env });
    cleanup.later(() => gateway.stop());
    owner = await gateway.createUser();
    client = openClient(gateway, owner).client;
  });
  afterEach(() => gateway.expectSoundMoney());
  after(() => cleanup.run());

  for (const [how, model] of [
    ['passed on', CHAT_MODEL],
    ['translated to chat completions', TRANSLATED_MODEL],
  ] as const)
    describe(how, () => {
      const ask = (directive: string, fields: object = {}) =>
        client.responses.create({ model, input: inputOf(directive), ...fields });
      const collect = async (directive: string, fields: object = {}): Promise<ResponseStreamEvent[]> => {
        const params = { model, input: inputOf(directive), ...fields, stream: true } as const;
        const events: ResponseStreamEvent[] = [];
        for await (const event of await client.responses.create(params)) events.push(event);
        return events;
      };

      it('answers whole, with the figures and the request’s id', async () => {
        const answer = await ask('tokens=3', { instructions: 'Be brief.', max_output_tokens: 20 });
        expect(answer.output_text).to.equal('the quick brown');
        expect(answer).to.include({ object: 'response', status: 'completed', model, store: false });
        expect(answer).to.include({ instructions: 'Be brief.', error: null, previous_response_id: null });
        expect(answer.usage).to.include({ output_tokens: 3 });
        const call = await lastCall(owner);
        expect(answer.usage).to.include({
          credits_charged: call.creditsCharged,
          input_tokens: call.promptTokens,
        });
        expect(answer._request_id).to.equal(call.requestId);
        expect(call).to.include({ model, status: 'completed', billingBasis: 'upstream' });
      });

      it('says when an answer is cut short, whole and streamed', async () => {
        const answer = await ask('tokens=30', { max_output_tokens: 5 });
        expect(answer.status).to.equal('incomplete');
        expect(answer.incomplete_details).to.deep.equal({ reason: 'max_output_tokens' });
        const last = (await collect('tokens=30', { max_output_tokens: 5 })).at(-1);
        expect(last?.type).to.equal('response.incomplete');
      });

      it('streams the events in OpenAI’s order, numbered', async () => {
        const events = await collect('tokens=4 delay=0');
        expect(events.map(({ type }) => type)).to.deep.equal([
          'response.created',
          'response.in_progress',
          'response.output_item.added',
          'response.content_part.added',
          ...Array.from({ length: 4 }, () => 'response.output_text.delta'),
          'response.output_text.done',
          'response.content_part.done',
          'response.output_item.done',
          'response.completed',
        ]);
        expect(events.map(({ sequence_number: number }) => number)).to.deep.equal([...events.keys()]);
        const last = events.at(-1);
        if (last?.type !== 'response.completed') throw new Error('it was to be completed');
        expect(last.response).to.include({ model, status: 'completed' });
        expect(last.response.usage).to.include({ output_tokens: 4 }).and.to.include.keys('credits_charged');
        expect((await lastCall(owner)).creditsCharged).to.equal(
          Reflect.get(last.response.usage ?? {}, 'credits_charged'),
        );
      });

      it('is put together by the client’s helper', async () => {
        const stream = client.responses.stream({ model, input: inputOf('tokens=40 delay=0') });
        let heard = '';
        stream.on('response.output_text.delta', ({ delta }) => void (heard += delta));
        const whole = await stream.finalResponse();
        expect(whole.output_text).to.equal(heard);
        expect(heard.split(' ')).to.have.length(40);
      });

      it('runs a loop of tools, whole and streamed, until the answer is there', async () => {
        for (const isStreamed of [false, true]) {
          const input: ResponseInput = [{ role: 'user', content: inputOf('tokens=9') }];
          const turn = async (toolChoice: 'auto' | 'required'): Promise<Response> => {
            const params = { model, input, tools: [TOOL], tool_choice: toolChoice, store: false };
            return isStreamed
              ? client.responses.stream(params).finalResponse()
              : client.responses.create(params);
          };
          const first = await turn('required');
          const [call] = first.output;
          if (call?.type !== 'function_call') throw new Error('a function was to be called');
          expect([call.name, Object.keys(JSON.parse(call.arguments))]).to.deep.equal(['weather', ['city']]);
          expect(call.call_id).to.match(/^call_/);
          input.push(...(first.output as ResponseInput), {
            type: 'function_call_output',
            call_id: call.call_id,
            output: 'sun',
          });
          const second = await turn('auto');
          expect(second.output_text.split(' ')).to.have.length(9);
          input.push(...(second.output as ResponseInput), { role: 'user', content: inputOf('tokens=2') });
          expect((await turn('auto')).output_text).to.equal('the quick');
        }
      });

      it('streams the call of a tool in OpenAI’s order', async () => {
        const events = await collect('tokens=3', {
          tools: [TOOL],
          tool_choice: { type: 'function', name: 'weather' },
        });
        const types = events.map(({ type }) => type);
        expect(new Set(types.slice(3, -3))).to.deep.equal(
          new Set(['response.function_call_arguments.delta']),
        );
        expect([...types.slice(0, 3), ...types.slice(-3)]).to.deep.equal([
          'response.created',
          'response.in_progress',
          'response.output_item.added',
          'response.function_call_arguments.done',
          'response.output_item.done',
          'response.completed',
        ]);
      });

      it('parses structured output', async () => {
        const format = zodTextFormat(CITY, 'city');
        const answer = await client.responses.parse({ model, input: inputOf(), text: { format } });
        expect(CITY.safeParse(answer.output_parsed).success).to.equal(true);
      });

      it('sends pictures', async () => {
        const content = [
          { type: 'input_text' as const, text: inputOf() },
          { type: 'input_image' as const, image_url: PNG_DATA_URI, detail: 'low' as const },
        ];
        const answer = await client.responses.create({ model, input: [{ role: 'user', content }] });
        expect(answer.usage?.input_tokens).to.be.above(85); // the picture’s alone
      });

      it('throws what it refuses, with our codes', async () => {
        const unknown = client.responses.create({ model: 'no-such-model', input: 'x' });
        expect(await failureOf(unknown)).to.be.instanceOf(OpenAI.NotFoundError);
        for (const [directive, status, code] of [
          ['submit=400', 400, 'upstream_rejected'],
          ['outcome=fail reason=moderation', 400, 'content_rejected'],
          ['submit=500', 502, 'upstream_error'],
          ['outcome=stuck', 504, 'upstream_timeout'],
        ] as const)
          expect(await failureOf(ask(directive)), directive).to.include({ status, code });
      });

      it('throws an error inside of a stream, after what came before it', async () => {
        for (const directive of [
          'error_after=3 tokens=9',
          'die_after=3 tokens=9',
          'submit=truncated tokens=9',
        ]) {
          const types: string[] = [];
          const params = { model, input: inputOf(directive), stream: true } as const;
          const failure = await failureOf(
            (async () => {
              for await (const { type } of await client.responses.create(params)) types.push(type);
            })(),
          );
          expect(failure, directive)
            .to.be.instanceOf(OpenAI.APIError)
            .and.to.include({ code: 'upstream_error' });
          expect(types, directive).to.include('response.output_text.delta');
          expect((await lastCall(owner)).status).to.equal('failed');
        }
      });

      it('leaves a stream, and the call is over', async () => {
        const word = uniqueWord();
        const params = { model, input: inputOf('tokens=1000 delay=20', word), stream: true } as const;
        const stream = await client.responses.create(params);
        for await (const { type } of stream) if (type === 'response.output_text.delta') break;
        stream.controller.abort();
        await until('the call is recorded', async () => (await lastCall(owner)).status === 'cancelled');
        const [entry] = await readJournal(gateway.sandboxUrl, word);
        expect(entry?.clientClosedAt).to.be.a('string');
        expect(entry?.path).to.match(model === CHAT_MODEL ? /responses$/ : /completions$/);
      });
    });

  it('passes encrypted reasoning on, and back', async () => {
    const params = { model: CHAT_MODEL, include: ['reasoning.encrypted_content' as const] };
    const first = await client.responses.create({ ...params, input: inputOf('tokens=2') });
    expect(first.output.map(({ type }) => type)).to.deep.equal(['reasoning', 'message']);
    const input = [...first.output, { role: 'user' as const, content: inputOf('tokens=2') }];
    expect(
      (await client.responses.create({ ...params, input: input as ResponseInput })).output_text,
    ).to.equal('the quick');
    const lost = client.responses.create({ model: TRANSLATED_MODEL, input: input as ResponseInput });
    expect(await failureOf(lost)).to.include({ status: 400, param: 'input[0].encrypted_content' });
    const harmless = await client.responses.create({ ...params, model: TRANSLATED_MODEL, input: inputOf() });
    expect(harmless.output.map(({ type }) => type)).to.deep.equal(['message']);
  });
});

// OpenAI chat completions as the sandbox plays them: whole answers, what is accepted, and what goes wrong.

import { expect } from 'chai';
import { CHAT_PATH, chat, chatBody } from './chat-support.ts';
import {
  ask,
  at,
  eventually,
  expectSensitive,
  isCutOff,
  type Json,
  newPrompt,
  readJournal,
  useSandbox,
} from '../support.ts';
import { itDistortsUsage, itRefusesWithoutJob } from '../vendor-rules.ts';
import { OPENAI_REFUSALS, readOpenaiRefusal } from './refusals.ts';

const WEATHER = {
  type: 'function',
  function: {
    name: 'weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 } },
      required: ['city', 'days'],
    },
  },
};

describe('sandbox: OpenAI chat', () => {
  const sandbox = useSandbox();

  const url = (path = CHAT_PATH): string => sandbox().url + path;

  const user = (content: unknown): Json => ({ messages: [{ role: 'user', content }] });

  describe('POST /v1/chat/completions, answers', () => {
    it('answers with as many words as the directive tokens says, and counts the words of the prompt', async () => {
      const messages = [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'One two [[sandbox tokens=5]]' },
      ];
      const { status, headers, body } = await chat(sandbox(), '', { messages });
      expect(status).to.equal(200);
      expect(body).to.include({ object: 'chat.completion', model: 'gpt-6-luna', service_tier: 'default' });
      expect(body['id']).to.match(/^chatcmpl-\w+$/);
      expect(body['created']).to.be.closeTo(Date.now() / 1000, 5);
      expect(body['system_fingerprint']).to.match(/^fp_/);
      expect(body['choices']).to.eql([
        {
          index: 0,
          message: {
            role: 'assistant',
            refusal: null,
            annotations: [],
            content: 'the quick brown fox jumps',
          },
          logprobs: null,
          finish_reason: 'stop',
        },
      ]);
      expect(body['usage']).to.deep.include({ prompt_tokens: 6, completion_tokens: 5, total_tokens: 11 });
      expect(at(body, 'usage.prompt_tokens_details')).to.include({ cached_tokens: 0, cache_write_tokens: 0 });
      expect(at(body, 'usage.completion_tokens_details')).to.include({ reasoning_tokens: 0 });
      expect(headers.get('openai-version')).to.equal('2020-10-01');
      expect(headers.get('x-ratelimit-remaining-tokens')).to.match(/^\d+$/);
    });

    it('has 8 tokens without a directive, and reads directives in the last user message only', async () => {
      const messages = [
        { role: 'user', content: '[[sandbox tokens=3 outcome=fail]]' },
        { role: 'assistant', content: 'No.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'And' },
            { type: 'text', text: 'now?' },
          ],
        },
        { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function' }] },
        { role: 'tool', tool_call_id: 'a', content: '[[sandbox outcome=fail]]' },
      ];
      const { body } = await chat(sandbox(), '', { messages });
      expect(at(body, 'usage.completion_tokens')).to.equal(8);
    });

    it('gives n different answers and counts the tokens of all', async () => {
      const { body } = await chat(sandbox(), 'tokens=4', { n: 3 });
      const answers = [0, 1, 2].map((index) => at(body, `choices.${index}.message.content`));
      expect(new Set(answers)).to.have.property('size', 3);
      expect(at(body, 'usage.completion_tokens')).to.equal(12);
    });

    for (const field of ['max_tokens', 'max_completion_tokens'])
      it(`ends at ${field} with finish_reason length`, async () => {
        const { body } = await chat(sandbox(), 'tokens=50', { [field]: 3 });
        expect(at(body, 'choices.0.finish_reason')).to.equal('length');
        expect(at(body, 'choices.0.message.content')).to.equal('the quick brown');
        expect(at(body, 'usage.completion_tokens')).to.equal(3);
      });

    it('reads images by https and as data URIs, 85 tokens each', async () => {
      const images = ['https://example.com/a.png', 'data:image/png;base64,iVBORw0KGgo='];
      const parts = images.map((image) => ({ type: 'image_url', image_url: { url: image, detail: 'low' } }));
      const { body } = await chat(sandbox(), '', user([{ type: 'text', text: 'Which one?' }, ...parts]));
      expect(at(body, 'usage.prompt_tokens')).to.equal(2 + 2 * 85);
      expect(at(body, 'usage.prompt_tokens_details')).to.include({ text_tokens: 2, image_tokens: 170 });
    });

    it('answers with text where tools are offered, and calls one where it is required', async () => {
      const tools = [WEATHER];
      const free = await chat(sandbox(), '', { tools });
      expect(at(free.body, 'choices.0.finish_reason')).to.equal('stop');
      const named = { type: 'function', function: { name: 'weather' } };
      for (const choice of ['required', named]) {
        const { body } = await chat(sandbox(), '', { tools, tool_choice: choice });
        expect(at(body, 'choices.0.finish_reason')).to.equal('tool_calls');
        expect(at(body, 'choices.0.message.content')).to.equal(null);
        expect(at(body, 'choices.0.message.tool_calls.0')).to.include({ type: 'function' });
        const called = at(body, 'choices.0.message.tool_calls.0.function');
        expect(at(called, 'name')).to.equal('weather');
        expect(JSON.parse(String(at(called, 'arguments')))).to.eql({ city: 'fox', days: 2 });
      }
    });

    it('answers with JSON where it is required, cut off where tokens run out', async () => {
      const anyJson = await chat(sandbox(), '', { response_format: { type: 'json_object' } });
      expect(JSON.parse(String(at(anyJson.body, 'choices.0.message.content')))).to.eql({ answer: 'fox' });
      const schema = WEATHER.function.parameters;
      const format = { type: 'json_schema', json_schema: { name: 'report', strict: true, schema } };
      const { body } = await chat(sandbox(), '', { response_format: format });
      expect(at(body, 'choices.0.message.content')).to.equal('{"city":"fox","days":2}');
      const cut = await chat(sandbox(), '', { response_format: format, max_tokens: 4 });
      expect(at(cut.body, 'choices.0.message.content')).to.equal('{"city":"fox');
      expect(at(cut.body, 'choices.0.finish_reason')).to.equal('length');
    });

    it('writes a prompt with a prompt_cache_key to its cache and reads it from there', async () => {
      const messages = [{ role: 'user', content: newPrompt().prompt }];
      const ask = async (): Promise<unknown> =>
        at(
          (await chat(sandbox(), '', { messages, prompt_cache_key: 'fox' })).body,
          'usage.prompt_tokens_details',
        );
      expect(await ask()).to.include({ cached_tokens: 0, cache_write_tokens: 7 });
      expect(await ask()).to.include({ cached_tokens: 7, cache_write_tokens: 0 });
    });
  });

  describe('POST /v1/chat/completions, refusals', () => {
    for (const [fields, param, code] of [
      [{ model: null }, 'model', 'missing_required_parameter'],
      [{ messages: null }, 'messages', 'missing_required_parameter'],
      [{ messages: 'Hi' }, 'messages', 'invalid_type'],
      [{ messages: [] }, 'messages', 'empty_array'],
      [{ messages: [{ role: 'fox', content: 'Hi' }] }, 'messages[0].role', 'invalid_value'],
      [{ messages: [{ role: 'user' }] }, 'messages[0].content', 'invalid_value'],
      [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content', 'invalid_type'],
      [
        { messages: [{ role: 'tool', content: 'x' }] },
        'messages[0].tool_call_id',
        'missing_required_parameter',
      ],
      [user([{ type: 'video' }]), 'messages[0].content[0].type', 'invalid_value'],
      [
        user([{ type: 'image_url', image_url: { url: 'ftp://x' } }]),
        'messages[0].content[0].image_url.url',
        'invalid_image_url',
      ],
      [{ n: 0 }, 'n', 'integer_below_min_value'],
      [{ n: 129 }, 'n', 'integer_above_max_value'],
      [{ n: 'two' }, 'n', 'invalid_type'],
      [{ temperature: 3 }, 'temperature', 'decimal_above_max_value'],
      [{ max_tokens: 0 }, 'max_tokens', 'integer_below_min_value'],
      [{ max_tokens: 1, max_completion_tokens: 1 }, 'max_tokens', 'invalid_parameter_combination'],
      [{ stream: 'yes' }, 'stream', 'invalid_type'],
      [{ stream_options: { include_usage: true } }, 'stream_options', 'invalid_argument'],
      [{ tool_choice: 'required' }, 'tool_choice', 'invalid_argument'],
      [{ tools: [] }, 'tools', 'empty_array'],
      [
        { tools: [{ type: 'function', function: { name: 'a b' } }] },
        'tools[0].function.name',
        'invalid_value',
      ],
      [{ response_format: { type: 'xml' } }, 'response_format.type', 'invalid_value'],
      [{ service_tier: 'gold' }, 'service_tier', 'invalid_value'],
    ] as const)
      it(`refuses ${JSON.stringify(fields)}, naming ${param}`, async () => {
        for (const path of [CHAT_PATH, '/xai/v1/chat/completions']) {
          const { status, body } = await chat(sandbox(), '', fields, path);
          expect(status).to.equal(400);
          expect(at(body, 'error')).to.include({ param, type: 'invalid_request_error' });
          const plain = path === CHAT_PATH && code === 'invalid_argument' ? null : code;
          expect(at(body, 'error.code')).to.equal(plain);
        }
      });

    it('accepts unknown fields', async () => {
      const known = {
        temperature: 1,
        stop: ['x'],
        seed: 7,
        logit_bias: {},
        metadata: { a: 'b' },
        user: 'fox',
      };
      expect((await chat(sandbox(), '', { ...known, reasoning: { effort: 'low' } })).status).to.equal(200);
    });

    it('wants a key, and refuses one that contains `invalid`', async () => {
      for (const key of [null, 'sk-invalid']) {
        const answer = await ask(url(), { method: 'POST', key, body: chatBody('') });
        expect(answer.status).to.equal(401);
        expect(at(answer.body, 'error.code')).to.equal('invalid_api_key');
        expect((await ask(url('/openai/v1/models'), { key })).status).to.equal(401);
      }
    });

    it('refuses an unknown directive in its own shape and names the key', async () => {
      const { status, body } = await chat(sandbox(), 'colour=red');
      expect(status).to.equal(400);
      expect(at(body, 'error.param')).to.equal('messages');
      expect(at(body, 'error.message')).to.contain("'colour'");
    });
  });

  describe('GET /v1/models', () => {
    it('knows its models, and no others', async () => {
      const { body } = await ask(url('/openai/v1/models'));
      expect(body['object']).to.equal('list');
      expect(at(body, 'data.0')).to.include({ id: 'gpt-6-luna', object: 'model', owned_by: 'openai' });
      const { body: sol } = await ask(url('/xai/v1/models/gpt-6-sol'));
      expect(sol).to.include({ id: 'gpt-6-sol', owned_by: 'xai' });
      for (const model of ['gpt-4-retired', 'fox']) {
        const { status, body } = await chat(sandbox(), '', { model });
        expect(status).to.equal(404);
        expect(at(body, 'error')).to.include({ param: 'model', code: 'model_not_found' });
        expect((await ask(url(`/openai/v1/models/${model}`))).status).to.equal(404);
      }
    });
  });

  describe('the directive submit', () => {
    itRefusesWithoutJob(
      {
        sandbox,
        submit: (prompt) => ask(url(), { method: 'POST', body: { ...chatBody(''), ...user(prompt) } }),
      },
      OPENAI_REFUSALS,
      readOpenaiRefusal,
    );

    it('counts *N over all vendors, so that the first one fails and the next one answers', async () => {
      const body = chatBody('submit=503*1');
      const first = await ask(url(), { method: 'POST', body });
      const second = await ask(url('/xai/v1/chat/completions'), { method: 'POST', body });
      expect([first.status, second.status]).to.eql([503, 200]);
    });

    for (const fault of ['reset', 'accept_then_reset', 'truncated'])
      it(`breaks the connection with submit=${fault}`, async () => {
        const { prompt, marker } = newPrompt(`submit=${fault}`);
        const asking = ask(url(), { method: 'POST', body: { ...chatBody(''), ...user(prompt) } });
        expect(await isCutOff(asking)).to.equal(true);
        const [entry] = await readJournal(sandbox(), marker);
        expect(entry).to.include({
          vendor: 'openai',
          operation: 'chat',
          status: fault === 'truncated' ? 200 : null,
          clientClosedAt: null,
        });
      });

    it('answers with a page for submit=html, and without id and choices for submit=no_id', async () => {
      expect((await chat(sandbox(), 'submit=html')).headers.get('content-type')).to.contain('text/html');
      const { body } = await chat(sandbox(), 'submit=no_id');
      expect(body).to.have.all.keys('object', 'created', 'model');
    });
  });

  describe('the directives outcome, seconds, text and usage', () => {
    for (const directives of ['submit=hang', 'outcome=stuck', 'seconds=60'])
      it(`does not answer ${directives}, and the journal says when the client disconnected`, async () => {
        const { prompt, marker } = newPrompt(directives);
        const leaving = new AbortController();
        const body = { ...chatBody(''), ...user(prompt) };
        const asking = isCutOff(ask(url(), { method: 'POST', body, signal: leaving.signal }));
        const waiting = await eventually(async () => (await readJournal(sandbox(), marker))[0]);
        expect(waiting).to.include({ status: null, clientClosedAt: null });
        leaving.abort();
        expect(await asking).to.equal(true);
        await eventually(async () => (await readJournal(sandbox(), marker))[0]?.clientClosedAt ?? undefined);
      });

    it('answers after the time of the directive seconds', async () => {
      const startedAt = performance.now();
      await chat(sandbox(), 'seconds=0.2');
      expect(performance.now() - startedAt).to.be.at.least(190);
    });

    for (const [directives, status, type, code] of [
      ['outcome=fail', 500, 'server_error', null],
      ['outcome=fail reason=invalid', 400, 'invalid_request_error', 'invalid_value'],
      ['outcome=fail reason=quota', 429, 'insufficient_quota', 'insufficient_quota'],
      ['outcome=fail reason=concurrency', 429, 'requests', 'rate_limit_exceeded'],
      ['outcome=fail reason=moderation', 400, 'invalid_request_error', 'content_policy_violation'],
      ['outcome=expire', 500, 'server_error', null],
      ['outcome=cancelled', 500, 'server_error', null],
    ] as const)
      it(`ends ${directives} with ${status} ${code ?? type}`, async () => {
        for (const fields of [{}, { stream: true }]) {
          const answer = await chat(sandbox(), directives, fields);
          expect(answer.status).to.equal(status);
          expect(at(answer.body, 'error')).to.include({ type, code });
        }
      });

    it('stops at its content filter with outcome=moderated', async () => {
      const { body } = await chat(sandbox(), 'outcome=moderated');
      expect(at(body, 'choices.0.finish_reason')).to.equal('content_filter');
    });

    it('shows internal details with text=leaky', async () => {
      for (const directives of ['outcome=fail', 'submit=500']) {
        const message = at((await chat(sandbox(), `text=leaky ${directives}`)).body, 'error.message');
        expectSensitive(message);
      }
    });

    itDistortsUsage(8, async (directives) =>
      at((await chat(sandbox(), directives)).body, 'usage.completion_tokens'),
    );

    it('has no usage with usage=missing', async () => {
      expect((await chat(sandbox(), 'usage=missing')).body).not.to.have.property('usage');
    });
  });

  describe('xAI', () => {
    it('answers as xAI at its path, in xAI’s error format', async () => {
      const { prompt, marker } = newPrompt('submit=401*1');
      const body = { ...chatBody(''), ...user(prompt) };
      const refused = await ask(url('/xai/v1/chat/completions'), { method: 'POST', body });
      expect(refused.body).to.have.all.keys('code', 'error');
      expect((await ask(url('/xai/v1/chat/completions'), { method: 'POST', body })).status).to.equal(200);
      const entries = await readJournal(sandbox(), marker);
      expect(entries.map(({ vendor, operation }) => [vendor, operation])).to.eql([
        ['xai', 'chat'],
        ['xai', 'chat'],
      ]);
    });
  });
});

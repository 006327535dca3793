// OpenAI chat completions as the sandbox plays them: whole answers, and the models.

import { expect } from 'chai';
import { CHAT_PATH, chat, userMessage } from './chat-support.ts';
import { ask, at, newPrompt, useSandbox } from '../support.ts';

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
      const { body } = await chat(
        sandbox(),
        '',
        userMessage([{ type: 'text', text: 'Which one?' }, ...parts]),
      );
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
});

// OpenAI chat completions as the sandbox plays them: what is accepted, and what is refused.

import { expect } from 'chai';
import { CHAT_PATH, chat, chatBody, userMessage } from './chat-support.ts';
import { ask, at, useSandbox } from '../support.ts';

describe('sandbox: OpenAI chat', () => {
  const sandbox = useSandbox();

  const url = (path = CHAT_PATH): string => sandbox().url + path;

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
      [userMessage([{ type: 'video' }]), 'messages[0].content[0].type', 'invalid_value'],
      [
        userMessage([{ type: 'image_url', image_url: { url: 'ftp://x' } }]),
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
});

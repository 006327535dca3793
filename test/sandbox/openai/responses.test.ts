// The sandbox's Responses API, with OpenAI's own client: answers, and refusals as OpenAI words them.

import { expect } from 'chai';
import OpenAI from 'openai';
import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses';
import { newPrompt, useSandbox } from '../support.ts';

describe('sandbox: OpenAI’s responses', () => {
  const sandbox = useSandbox();
  const client = () =>
    new OpenAI({ baseURL: `${sandbox().url}/openai/v1`, apiKey: 'sk-test', maxRetries: 0 });
  const ask = (directives: string, fields: Partial<ResponseCreateParamsNonStreaming> = {}) =>
    client().responses.create({ model: 'gpt-6-luna', input: newPrompt(directives).prompt, ...fields });

  it('are whole, or streamed to the same end', async () => {
    const whole = await ask('tokens=5');
    expect(whole.output_text).to.equal('the quick brown fox jumps');
    expect([whole.status, whole.usage?.output_tokens]).to.deep.equal(['completed', 5]);
    const params = { model: 'gpt-6-luna', input: newPrompt('tokens=5 delay=0').prompt };
    const streamed = await client().responses.stream(params).finalResponse();
    expect(streamed.output_text).to.equal(whole.output_text);
  });

  it('are cut short by max_output_tokens', async () => {
    const { status, incomplete_details: details } = await ask('tokens=50', { max_output_tokens: 4 });
    expect([status, details?.reason]).to.deep.equal(['incomplete', 'max_output_tokens']);
  });

  for (const [what, fields, message] of [
    [
      'an earlier response',
      { previous_response_id: 'resp_1' },
      /Previous response with id 'resp_1' not found/,
    ],
    ['a reference to an item', { input: [{ type: 'item_reference', id: 'msg_1' }] }, /not persisted/],
    [
      'an output without its call',
      { input: [{ type: 'function_call_output', call_id: 'call_1', output: 'x' }] },
      /No tool call found for function call output with call_id call_1/,
    ],
    [
      'reasoning of another vendor',
      { input: [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'theirs' }] },
      /could not be verified/,
    ],
    ['fields of chat completions', { max_tokens: 5 }, /Unknown parameter: 'max_tokens'/],
  ] as const)
    it(`refuse ${what}`, async () => {
      const answer: unknown = await ask('', fields as Partial<ResponseCreateParamsNonStreaming>).catch(
        (error: unknown) => error,
      );
      expect(answer).to.be.instanceOf(OpenAI.BadRequestError);
      expect(String(answer)).to.match(message);
    });
});

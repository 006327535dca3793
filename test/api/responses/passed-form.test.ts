// Streams of Responses that are passed on: cut anywhere, ended by an error, or never ended.
import { expect } from 'chai';
import type { ChatCharge } from '../../../api/chat/chat-billing.ts';
import { textOfEvents, type StreamPiece } from '../../../api/chat/stream-events.ts';
import { passedForm } from '../../../api/responses/passed-form.ts';
import type { StreamForm } from '../../../api/chat/answer-form.ts';

const CHARGE: ChatCharge = { promptTokens: 5, completionTokens: 7, credits_estimate: 3, credits_charged: 1 };
const USAGE = {
  input_tokens: 5,
  output_tokens: 7,
  total_tokens: 12,
  input_tokens_details: { cached_tokens: 2 },
};
const event = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const response = (fields: object): object => ({
  id: 'resp_1',
  object: 'response',
  model: 'theirs',
  ...fields,
});
const STREAM = [
  event('response.created', { sequence_number: 0, response: response({ tools: [{ model: 'theirs' }] }) }),
  event('response.output_item.added', { sequence_number: 1, item: { type: 'function_call', name: 'f' } }),
  event('response.function_call_arguments.delta', { sequence_number: 2, delta: '{"response":{' }),
  event('response.output_text.delta', { sequence_number: 3, delta: ' ü "type":"error" ' }),
  event('response.completed', {
    sequence_number: 4,
    response: response({ status: 'completed', usage: USAGE }),
  }),
].join('');

function open(): StreamForm {
  return passedForm('ours', 'req_1').openStream();
}

function readAll(form: StreamForm, chunks: readonly Buffer[]): StreamPiece[] {
  return chunks.flatMap((chunk) => form.read(chunk));
}

const textsOf = (pieces: StreamPiece[]): string =>
  pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');

describe('a stream of Responses that is passed on', () => {
  it('is the same wherever it is cut, with our name of the model, and its end is held back', () => {
    const bytes = Buffer.from(STREAM);
    for (let at = 1; at < bytes.length; at += 7) {
      const form = open();
      const pieces = readAll(form, [bytes.subarray(0, at), bytes.subarray(at)]);
      const passed = textsOf(pieces);
      expect(passed).to.include('"model":"ours"').and.include('"tools":[{"model":"theirs"}]');
      expect(passed).not.to.include('response.completed');
      expect(textOfEvents(passed, (json) => form.billableTextOf(json))).to.equal(
        'f{"response":{ ü "type":"error" ',
      );
      expect(pieces.slice(-2)).to.deep.equal([
        {
          kind: 'usage',
          usage: {
            prompt_tokens: 5,
            completion_tokens: 7,
            total_tokens: 12,
            prompt_tokens_details: { cached_tokens: 2 },
            completion_tokens_details: undefined,
          },
          text: null,
        },
        { kind: 'done' },
      ]);
      form.requireEnd();
      const end = form.end(null, CHARGE);
      expect(end)
        .to.match(/^event: response\.completed\n/)
        .and.include('"credits_charged":1');
      expect(end).to.include('"sequence_number":4');
    }
  });

  it('is broken where it ends without its end', () => {
    const form = open();
    readAll(form, [Buffer.from(STREAM.slice(0, STREAM.indexOf('event: response.completed')))]);
    expect(() => form.requireEnd()).to.throw();
  });

  for (const [what, last] of [
    ['error', event('error', { sequence_number: 9, message: 'Boom.' })],
    ['response.failed', event('response.failed', { response: response({ error: { message: 'Boom.' } }) })],
    ['an error as bodies have it', 'data: {"error":{"message":"Boom."}}\n\n'],
    ['an error as a text', 'data: {"error":"Boom."}\n\n'],
    ['an error as a text beside a code', 'data: {"code":500,"error": "Boom."}\n\n'],
  ] as const)
    it(`fails with ${what}`, () => {
      expect(open().read(Buffer.from(last))).to.deep.equal([{ kind: 'error', message: 'Boom.' }]);
    });

  it('of an upstream that answers with a stream of chat is refused before any of it is passed on', () => {
    const chunk = {
      object: 'chat.completion.chunk',
      model: 'theirs',
      choices: [{ delta: { content: 'hi' } }],
    };
    expect(() => open().read(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`))).to.throw('events of chat');
  });

  it('may tell of choices in a delta, and of an error inside of an item', () => {
    const told = [
      event('response.output_text.delta', { delta: '"choices":[ "error":"no"' }),
      event('response.output_item.done', { item: { type: 'mcp_call', choices: [], error: 'no' } }),
    ].join('');
    expect(textsOf(open().read(Buffer.from(told)))).to.equal(told);
  });
});

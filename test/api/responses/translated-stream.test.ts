// Streams of chat completions told as responses: reasoning, several calls, custom tools, interleaved ones.
import { expect } from 'chai';
import type { ChatCharge } from '../../../api/chat/chat-billing.ts';
import { GatewayError } from '../../../domain/errors.ts';
import { translatedStream } from '../../../api/responses/translated-stream.ts';

const HEAD = { id: 'resp_1', createdAt: 1_790_000_000, model: 'm' };
const CHARGE: ChatCharge = { promptTokens: 1, completionTokens: 2, credits_estimate: 3, credits_charged: 1 };
const call = (index: number, fields: object): object => ({ tool_calls: [{ index, ...fields }] });
const named = (index: number, name: string, text = ''): object =>
  call(index, { id: `call_${index}`, type: 'function', function: { name, arguments: text } });
const more = (index: number, text: string): object => call(index, { function: { arguments: text } });

interface Told {
  type: string;
  output_index?: number;
  delta?: string;
  response?: { output: Record<string, unknown>[]; status: string };
}

/** What a caller is told of these deltas, which arrive one by one. */
function tell(deltas: readonly object[], finish = 'stop'): Told[] {
  const form = translatedStream({ model: 'm', input: 'x' }, HEAD, 'req_1');
  const chunks = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
  ];
  const told = chunks.map((chunk) => form.render(`data: ${JSON.stringify(chunk)}\n\n`)).join('');
  return read(told + form.end(null, CHARGE));
}

function read(text: string): Told[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}

const outputOf = (events: Told[]) => events.at(-1)?.response?.output ?? [];
const short = ({ type, output_index: index }: Told): string =>
  `${type.replace('response.', '')}${index === undefined ? '' : ` ${index}`}`;

describe('a stream of chat completions that is told as a response', () => {
  it('of hundreds of calls take milliseconds, however long their arguments are', () => {
    const text = JSON.stringify({ days: Array.from({ length: 2_000 }, (_, day) => day) });
    const before = process.threadCpuUsage();
    tell(Array.from({ length: 400 }, (_, index) => named(index, 'weather', text)));
    expect(process.threadCpuUsage(before).user / 1000).to.be.below(600);
  });

  it('tells reasoning before the text, each as an item of its own', () => {
    const events = tell([
      { role: 'assistant', content: '' },
      { reasoning_content: 'Hm' },
      { reasoning_content: ' m' },
      { content: ' a' },
      { content: ' ' },
    ]);
    expect(events.map(short)).to.deep.equal([
      ...['created', 'in_progress', 'output_item.added 0', 'content_part.added 0'],
      ...['reasoning_text.delta 0', 'reasoning_text.delta 0', 'reasoning_text.done 0', 'content_part.done 0'],
      ...['output_item.done 0', 'output_item.added 1', 'content_part.added 1', 'output_text.delta 1'],
      ...[
        'output_text.delta 1',
        'output_text.done 1',
        'content_part.done 1',
        'output_item.done 1',
        'completed',
      ],
    ]);
    const [reasoning, message] = outputOf(events);
    expect(reasoning?.['content']).to.deep.equal([{ type: 'reasoning_text', text: 'Hm m' }]);
    expect(message?.['content']).to.deep.include.members([
      { type: 'output_text', text: ' a ', annotations: [], logprobs: [] },
    ]);
  });

  it('tells calls one after the other, also two of the same tool', () => {
    const events = tell(
      [{ content: 'Let me look.' }, named(0, 'f'), more(0, '{"a":'), more(0, '1}'), named(1, 'f', '{}')],
      'tool_calls',
    );
    expect(outputOf(events).map(({ type, call_id: id, arguments: text }) => [type, id, text])).to.deep.equal([
      ['message', undefined, undefined],
      ['function_call', 'call_0', '{"a":1}'],
      ['function_call', 'call_1', '{}'],
    ]);
    const order = events.map(short);
    expect(order.indexOf('output_item.done 1')).to.be.below(order.indexOf('output_item.added 2'));
  });

  it('loses nothing of calls whose arguments come interleaved', () => {
    const events = tell([named(0, 'f', '{"a"'), named(1, 'g', '{"b"'), more(0, ':1}'), more(1, ':2}')]);
    expect(outputOf(events).map((item) => item['arguments'])).to.deep.equal(['{"a":1}', '{"b":2}']);
    const order = events.map(short);
    for (const index of [0, 1])
      expect(order.filter((each) => each === `output_item.done ${index}`)).to.have.length(1);
  });

  it('tells calls without an index, each sent at once', () => {
    const whole = (id: string): object => ({
      tool_calls: [{ id, function: { name: 'f', arguments: '{}' } }],
    });
    const ids = outputOf(tell([whole('one'), whole('two')])).map((item) => item['call_id']);
    expect(ids).to.deep.equal(['one', 'two']);
  });

  it('tells calls of custom tools with their input', () => {
    const custom = (fields: object): object => ({ tool_calls: [{ index: 0, ...fields }] });
    const events = tell([
      custom({ id: 'call_0', type: 'custom', custom: { name: 'patch', input: '' } }),
      custom({ custom: { input: '*** Begin' } }),
    ]);
    expect(outputOf(events)[0]).to.include({ type: 'custom_tool_call', name: 'patch', input: '*** Begin' });
    expect(events.map(short)).to.include('custom_tool_call_input.done 0');
  });

  it('tells a refusal, and an answer that was cut short as incomplete', () => {
    const events = tell([{ refusal: 'No.' }], 'content_filter');
    expect(events.at(-1)?.type).to.equal('response.incomplete');
    expect(outputOf(events)[0]?.['content']).to.deep.equal([{ type: 'refusal', refusal: 'No.' }]);
  });

  it('numbers its events without gaps, and begins before it fails', () => {
    const form = translatedStream({ model: 'm', input: 'x' }, HEAD, 'req_1');
    const events = read(form.fail(new GatewayError('upstream_error')));
    expect(events.map(short)).to.deep.equal(['created', 'in_progress', 'error', 'failed']);
    expect(events.map((event) => Reflect.get(event, 'sequence_number'))).to.deep.equal([0, 1, 2, 3]);
  });
});

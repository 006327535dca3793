// What an upstream reports of tokens, and what it sent: which figures are believed, and which texts are
// counted.
import { expect } from 'chai';
import { billableTextOf, readChatUsage } from '../../../providers/chat/usage.ts';

const CONTEXT = 100_000;
const tokens = (usage: object) => {
  const read = readChatUsage(usage, CONTEXT);
  return read && [read.promptTokens, read.completionTokens];
};
const delta = (members: object): string => billableTextOf({ choices: [{ index: 0, delta: members }] });

describe('the usage of a chat call', () => {
  it('has reasoning that the vendor counts in the total alone', () => {
    const usage = { prompt_tokens: 20, completion_tokens: 100, total_tokens: 3_120 };
    expect(tokens({ ...usage, completion_tokens_details: { reasoning_tokens: 3_000 } })).to.deep.equal([
      20, 3_100,
    ]);
  });

  it('is believed without a total, and with one that is too small or absurd', () => {
    for (const total of [undefined, 0, 50, -1, 1.5, 9e18, '120'])
      expect(tokens({ prompt_tokens: 20, completion_tokens: 100, total_tokens: total })).to.deep.equal([
        20, 100,
      ]);
  });

  it('is none where a figure is absurd', () => {
    for (const wrong of [-1, 1.5, CONTEXT + 1, 1e308, '7', null, undefined])
      expect(tokens({ prompt_tokens: 20, completion_tokens: wrong }), String(wrong)).to.equal(null);
  });
});

describe('the text of a delta', () => {
  const cases: [title: string, members: object, text: string][] = [
    ['content', { role: 'assistant', content: 'one' }, 'one'],
    ['a legacy call', { function_call: { name: 'f', arguments: '{"a":1}' } }, 'f{"a":1}'],
    [
      'a call',
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { arguments: 'x' } }] },
      'x',
    ],
    ['a custom tool', { tool_calls: [{ id: 'c', type: 'custom', custom: { name: 't', input: 'y' } }] }, 'ty'],
    ['reasoning', { reasoning: 'why' }, 'why'],
    ['reasoning, said twice', { reasoning: 'why', reasoning_details: [{ text: 'why' }] }, 'why'],
    ['what no one has heard of', { dreams: { of: ['sheep', { and: 'more' }] } }, 'sheepmore'],
  ];
  for (const [title, members, text] of cases)
    it(`has ${title}`, () => {
      expect(delta(members)).to.equal(text);
    });

  it('is bounded, however deep the members are nested', () => {
    let nested: unknown = 'end';
    for (let depth = 0; depth < 10_000; depth += 1) nested = [nested];
    expect(delta({ nested })).to.equal('');
  });
});

// Directives in a prompt: their syntax, and for how many requests they hold.

import { expect } from 'chai';
import { RequestCounts } from '../../sandbox/request-counts.ts';
import { DirectiveError, readDirectives } from '../../sandbox/directives.ts';

describe('sandbox directives', () => {
  it('are absent from an ordinary prompt, where every choice is its default', () => {
    const orders = readDirectives('A fox [in the] [[snow]]').at(1);
    expect(orders.choose('outcome')).to.equal('succeed');
    expect(orders.choose('submit')).to.equal('ok');
    expect(orders.number('seconds')).to.equal(null);
  });

  it('are read wherever they stand in the prompt, also from several places', () => {
    const orders = readDirectives(
      '[[sandbox outcome=fail seconds=1.5]] A fox\n[[sandbox  reason=quota ]]',
    ).at(1);
    expect(orders.choose('outcome')).to.equal('fail');
    expect(orders.choose('reason')).to.equal('quota');
    expect(orders.number('seconds')).to.equal(1.5);
  });

  it('hold for the first N requests when they carry *N', () => {
    const directives = readDirectives('[[sandbox submit=429*2 outcome=fail]]');
    expect([1, 2, 3].map((ordinal) => directives.at(ordinal).choose('submit'))).to.eql(['429', '429', 'ok']);
    expect(directives.at(3).choose('outcome')).to.equal('fail');
  });

  for (const [words, key] of [
    ['colour=red', 'colour'],
    ['toString=1', 'toString'],
    ['outcome=explode', 'outcome'],
    ['outcome', 'outcome'],
    ['outcome=', 'outcome'],
    ['submit=429*0', 'submit'],
    ['submit=429*x', 'submit'],
    ['seconds=-1', 'seconds'],
    ['seconds=soon', 'seconds'],
    ['deliver=1.5', 'deliver'],
    ['deliver=101', 'deliver'],
  ] as const) {
    it(`refuse "${words}" and name the key`, () => {
      expect(() => readDirectives(`A fox [[sandbox ${words}]]`))
        .to.throw(DirectiveError, `'${key}'`)
        .with.property('key', key);
    });
  }

  it('refuse a directive that is not closed', () => {
    expect(() => readDirectives('A fox [[sandbox outcome=fail')).to.throw(DirectiveError, 'not closed');
  });

  it('count each prompt and each kind of request on its own', () => {
    const counts = new RequestCounts();
    const seen = [
      counts.next('grok', 'submit', 'A fox'),
      counts.next('grok', 'submit', 'A fox'),
      counts.next('grok', 'poll', 'A fox'),
      counts.next('grok', 'submit', 'A wolf'),
      counts.next('openai', 'submit', 'A fox'),
    ];
    expect(seen).to.eql([1, 2, 1, 1, 1]);
  });
});

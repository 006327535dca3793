// Echoes: the parts of a prompt that a vendor repeats are removed from its words.
import { expect } from 'chai';
import fc from 'fast-check';
import { withoutEcho } from '../../../domain/masking/echo.ts';

describe('withoutEcho', () => {
  const prompt = 'a portrait of Ada Lovelace at her desk';

  it('removes the whole prompt, whatever its case', () => {
    expect(withoutEcho(`Rejected: "${prompt.toUpperCase()}".`, prompt)).to.equal('Rejected: "[prompt]".');
  });

  it('removes a part of it', () => {
    expect(withoutEcho('The words "of Ada Lovelace at" are not allowed.', prompt)).to.equal(
      'The words "[prompt]" are not allowed.',
    );
  });

  it('keeps ordinary words', () => {
    const text = 'Your request for a portrait was refused.';
    expect(withoutEcho(text, prompt)).to.equal(text);
  });

  it('removes a short prompt where it stands whole', () => {
    expect(withoutEcho('cannot draw swordfish today', 'swordfish')).to.equal('cannot draw [prompt] today');
  });

  it('finds pieces wherever they stand in a long prompt', () => {
    const words = Array.from({ length: 20_000 }, (_, index) => `word${index}`).join(' ');
    const text = 'No: "WORD123 word124 word125" and "word19998 word19999", but not word7 of word8.';
    expect(withoutEcho(text, words)).to.equal('No: "[prompt]" and "[prompt]", but not word7 of word8.');
  });

  it('removes a part beside letters that are longer in lower case', () => {
    expect(withoutEcho('İstanbul: "of Ada Lovelace at" is not allowed.', prompt)).to.equal(
      'İstanbul: "[prompt]" is not allowed.',
    );
  });

  it('agrees with a plain search, of short texts and of long prompts with pieces of the text in them', () => {
    const few = fc.string({ unit: fc.constantFrom('a', 'b', 'B', ' '), maxLength: 60 });
    const unit = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz ');
    const many = fc.string({ unit, minLength: 100, maxLength: 200, size: 'max' });
    const both = fc.oneof(
      fc.tuple(few, few),
      fc
        .tuple(many, many, fc.nat(100), fc.nat(100), fc.integer({ min: 10, max: 14 }))
        .map(([text, prompt, from, to, length]): [string, string] => [
          text,
          prompt.slice(0, to) + text.slice(from, from + length).toUpperCase() + prompt.slice(to),
        ]),
    );
    fc.assert(
      fc.property(both, ([text, prompt]) => {
        const masked = withoutEcho(text, prompt).replaceAll(/(\[prompt\])+/g, '[prompt]');
        expect(masked).to.equal(plainlyWithoutEcho(text, prompt));
      }),
      { seed: 1, numRuns: 2_000 },
    );
  });

  const MEGABYTE = 1_000_000;
  const distinct = Array.from({ length: MEGABYTE / 8 }, (_, index) =>
    index.toString(36).padStart(7, 'x'),
  ).join(' ');
  for (const [what, long] of [
    ['distinct words', distinct],
    ['one letter', 'x'.repeat(MEGABYTE)],
    ['the text itself', 'the words "of Ada Lovelace at" are not allowed '.repeat(MEGABYTE / 47)],
  ] as const)
    it(`takes less than 100 ms for a prompt of a megabyte of ${what}`, () => {
      const text = `the words "of Ada Lovelace at" are not allowed: ${long.slice(5_000, 6_900)}`;
      let bestMs = Number.POSITIVE_INFINITY;
      for (let run = 0; run < 10; run += 1) {
        const before = process.threadCpuUsage(); // the machine may be busy with other work
        withoutEcho(text, long);
        const { user, system } = process.threadCpuUsage(before);
        bestMs = Math.min(bestMs, (user + system) / 1000);
      }
      expect(bestMs).to.be.below(100);
    });
});

/** The same, by looking each piece of the text up in the prompt. */
function plainlyWithoutEcho(text: string, prompt: string): string {
  const length = Math.min(12, prompt.length);
  if (length < 3) return text;
  const isEcho = Array.from(text, () => false);
  for (let start = 0; start + length <= text.length; start += 1)
    if (prompt.toLowerCase().includes(text.slice(start, start + length).toLowerCase()))
      isEcho.fill(true, start, start + length);
  return Array.from(text, (letter, at) => {
    if (isEcho[at] !== true) return letter;
    return isEcho[at - 1] === true ? '' : '[prompt]';
  }).join('');
}

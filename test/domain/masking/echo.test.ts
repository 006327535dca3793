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

  it('agrees with a plain search', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'B', ' '), maxLength: 60 });
    fc.assert(
      fc.property(letters, letters, (text, prompt) => {
        const isEcho = [...Array(text.length).keys()].some((start) => {
          const piece = text.slice(start, start + Math.min(12, prompt.length)).toLowerCase();
          return piece.length === Math.min(12, prompt.length) && prompt.toLowerCase().includes(piece);
        });
        expect(withoutEcho(text, prompt) !== text).to.equal(isEcho && prompt.length >= 3);
      }),
      { seed: 1 },
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

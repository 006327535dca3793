// Masking takes time linear in the length of a text, also for texts made to be slow.
import { expect } from 'chai';
import { maskErrorText, maskPayload, maskText } from '../../../domain/masking/masking.ts';

describe('texts of one megabyte made to be slow', () => {
  const MEGABYTE = 1_000_000;
  const rows: { limitMs: number; pieces: string[] }[] = [
    {
      limitMs: 50,
      pieces: [
        ...[
          'a',
          '=',
          'https://https://',
          'https://',
          '://',
          'eyJ',
          'eyJ-',
          'eyJ.',
          '@',
          ' ',
          '\n',
          '.',
          '1.',
          '7',
        ],
        ...['-', '-----BEGIN ', '\\', 'sk-', '-sk-', '[', '"', '/', '::', 'a.', "'", '猫', 'word '],
      ],
    },
    {
      // Each piece is a finding or a unit to decode, so the time is still linear but larger.
      limitMs: 400,
      pieces: [
        ...[
          '%25',
          '%41',
          'data:',
          'data:,',
          'Bearer ',
          'key=',
          'key="',
          'a:b@',
          'SELECT ',
          'select ',
          '{"a":',
        ],
        ...[
          '\x1b[',
          'at x (',
          '[masked',
          'C:\\',
          '\u200b',
          'password: ',
          'https://\\',
          'Authorization: ',
          'Authorization: Bearer ',
          'bearer=',
          'sig=b&',
          '1:',
          'x/',
          'a-.',
          'a@b.',
        ],
      ],
    },
  ];
  for (const { limitMs, pieces } of rows) {
    for (const piece of pieces) {
      it(`take less than ${limitMs} ms as a row of ${JSON.stringify(piece)}`, () => {
        const text = piece.repeat(Math.ceil(MEGABYTE / piece.length));
        const spaced = `${piece.repeat(Math.ceil(30_000 / piece.length))} `.repeat(3); // is scanned, not dropped
        expect(bestMs(() => maskPayload(text), limitMs)).to.be.below(limitMs);
        expect(bestMs(() => maskText(text), limitMs)).to.be.below(limitMs);
        expect(bestMs(() => maskErrorText(text), limitMs)).to.be.below(limitMs);
        expect(bestMs(() => maskErrorText(spaced), limitMs)).to.be.below(limitMs);
      });
    }
  }

  /** The processor time of this thread, the best of up to 25 runs, since the machine may be busy. */
  function bestMs(work: () => unknown, goodEnoughMs: number): number {
    let best = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 25 && best >= goodEnoughMs; attempt++) {
      const before = process.threadCpuUsage();
      work();
      const { user, system } = process.threadCpuUsage(before);
      best = Math.min(best, (user + system) / 1000);
    }
    return best;
  }
});

// Values and depth of a JSON text are counted from its bytes, however they are cut into chunks.
import { expect } from 'chai';
import fc from 'fast-check';
import { createJsonScan } from '../../domain/json-scan.ts';

const TOO_MANY = 'The body holds more than 100000 values.';
const TOO_MANY_FIELDS = 'The body holds more than 1000 fields.';
const TOO_DEEP = 'The body is nested deeper than 32 levels.';

describe('the scan of a JSON text', () => {
  const rows: [what: string, text: string, verdict: string | null][] = [
    ['100,000 entries', `[${'1,'.repeat(99_999)}1]`, null],
    ['100,001 entries', `[${'1,'.repeat(100_000)}1]`, TOO_MANY],
    ['100,000 empty objects', `[${'{},'.repeat(99_999)}{}]`, null],
    ['50,001 pairs of a list and its entry', `[${'[1],'.repeat(50_000)}[1]]`, TOO_MANY],
    ['49,999 fields in a list', `[{${'"":1,'.repeat(49_998)}"":1}]`, null],
    ['50,000 fields in a list', `[{${'"":1,'.repeat(49_999)}"":1}]`, TOO_MANY],
    ['1,000 fields of the body', `{${'"":1,'.repeat(999)}"":1}`, null],
    ['1,001 fields of the body', `{${'"":1,'.repeat(1_000)}"":1}`, TOO_MANY_FIELDS],
    ['colons in a text', `["${':'.repeat(200_000)}"]`, null],
    ['commas and brackets in a text', `["${'[{,'.repeat(200_000)}"]`, null],
    ['commas behind an escaped quote', `["\\"${','.repeat(200_000)}"]`, null],
    ['commas behind a text that ends in a backslash', `["\\\\"${',1'.repeat(100_000)}]`, TOO_MANY],
    ['commas behind a long text', `["${'a'.repeat(1_000)}\\\\"${',1'.repeat(100_000)}]`, TOO_MANY],
    [
      'commas in a long text with an escaped quote',
      `["${'a'.repeat(1_000)}\\"${',1'.repeat(200_000)}"]`,
      null,
    ],
    ['32 levels', `${'['.repeat(32)}${']'.repeat(32)}`, null],
    ['33 levels', `${'['.repeat(33)}${']'.repeat(33)}`, TOO_DEEP],
    ['levels side by side', `[${'[[[]]],'.repeat(20_000)}1]`, null],
  ];
  for (const [what, text, verdict] of rows)
    it(`finds ${verdict ?? 'nothing to refuse'} in ${what}, whatever the chunks`, () => {
      for (const size of [Number.POSITIVE_INFINITY, 65_536, 1_021, 1])
        expect(scan(text, size)).to.equal(verdict);
    });

  it('agrees with the parser about any JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.integer({ min: 1, max: 100 }), (text, size) => {
        // A hundred thousand entries more make a miscount visible.
        const spare = 100_000 - entriesOf(JSON.parse(text)) - 1;
        expect(scan(`[${text}${',1'.repeat(spare)}]`, size * 1_000)).to.equal(null);
        expect(scan(`[${text}${',1'.repeat(spare + 1)}]`, size * 1_000)).to.equal(TOO_MANY);
      }),
      { seed: 1, numRuns: 30 },
    );
  });

  it('takes less than 5 ms for any 64 KiB, of whatever bytes', () => {
    for (const piece of ['\\', '"', '\\"', '{', '[,', 'a', ' ', '"",', '"\\\\",', '1']) {
      const chunk = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)));
      let bestMs = Number.POSITIVE_INFINITY;
      for (let run = 0; run < 20; run += 1) {
        const startedAt = performance.now();
        createJsonScan()(chunk);
        bestMs = Math.min(bestMs, performance.now() - startedAt);
      }
      expect(bestMs, piece).to.be.below(5);
    }
  });

  function scan(text: string, chunkBytes: number): string | null {
    const read = createJsonScan();
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length; from += chunkBytes) {
      const excess = read(bytes.subarray(from, from + chunkBytes));
      if (excess !== null) return excess;
    }
    return null;
  }

  function entriesOf(value: unknown): number {
    if (typeof value !== 'object' || value === null) return 0;
    const weight = Array.isArray(value) ? 1 : 2; // a field counts with its name
    return Object.values(value).reduce<number>((sum, member) => sum + weight + entriesOf(member), 0);
  }
});

// Masking of texts as long as a body may be: nothing throws, every finder's worst case takes a bounded time,
// and a marker stands for every part that is left out.
import { expect } from 'chai';
import fc from 'fast-check';
import { withoutEcho } from '../../../domain/masking/echo.ts';
import type { JsonValue } from '../../../domain/json.ts';
import { maskErrorText, maskPayload, maskText } from '../../../domain/masking/masking.ts';

const MEGABYTE = 1_000_000;
/** The most processor time that one text may take; a quiet machine takes a tenth of it. */
const LIMIT_MS = 2_000;
const SEED = Number(process.env['TEST_SEED'] ?? 1);

const PIECES = [
  ...['a', '=', '"', "'", '{', '}', '[', '\\', '/', '.', '-', '_', '@', ':', '%', ',', ' ', '\n', '🐱', '猫'],
  ...['https://https://', '://', 'data:,', 'data:image/png;base64,', '%41', '%25', '\\u0041', 'eyJ.', 'sk-'],
  ...['key="', 'a:b@', 'Bearer ', 'Cookie: ', '-----BEGIN ', '[masked', '[masked:url]', '[masked:rest 5]'],
  ...['word ', 'A1b2C3d4-', '{"a":', '\u200b', '\x1b[', 'SVC-', 'C:\\', 'select ', '1.', 'password='],
];

describe('masking texts of up to 32 MB', () => {
  for (const piece of PIECES) {
    it(`takes a row of ${JSON.stringify(piece)}`, () =>
      expectSwift(piece.repeat((32 * MEGABYTE) / piece.length)));
  }

  it(`takes any mixture of them (seed ${SEED})`, () => {
    const stretch = fc.record({
      piece: fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', minLength: 1, maxLength: 9 })),
      megabytes: fc.double({ min: 0.0001, max: 5, noNaN: true }),
    });
    const texts = fc.array(stretch, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(texts, (stretches) => {
        expectSwift(stretches.map(({ piece, megabytes }) => repeated(piece, megabytes)).join(''));
      }),
      { seed: SEED, numRuns: 12, endOnFailure: true },
    );
  });

  it('takes as much in many texts, names and levels', () => {
    const texts = Array.from({ length: 9_000 }, (_, index) => `${index} key="`.repeat(400));
    const names = Object.fromEntries(texts.slice(0, 3_000).map((text, index) => [`${text}${index}`, text]));
    let levels: JsonValue = 'a'.repeat(MEGABYTE);
    for (let depth = 0; depth < 5_000; depth += 1) levels = depth % 2 ? [levels] : { levels };
    for (const payload of [{ texts }, names, { levels }, { [repeated('a', 20)]: 1 }])
      expectSwiftPayload(payload);
  });
});

describe('a text beyond 65,536 characters', () => {
  it('shows its beginning, up to a white space, and how much was left out', () => {
    const masked = maskText(`hello sk-svc_${'a1B2'.repeat(12)} ${'word '.repeat(20_000)}`);
    expect(masked).to.match(/^hello \[masked:token\] word word .* word \[masked:rest \d{5}\]$/);
    expect(masked.length).to.be.at.most(65_536);
  });

  it('cuts no secret in two', () => {
    const secret = `sk-svc_${'a1B2'.repeat(12)}`;
    for (let before = 65_420; before < 65_545; before += 1) {
      const text = `${'a, '.repeat(30_000).slice(0, before)} ${secret} ${'b, '.repeat(9_000)}`;
      for (const masked of [maskText(text), JSON.stringify(maskPayload(text))])
        expect(masked).not.to.contain('sk-svc');
    }
  });

  it('is named as a whole where it is a data URI or a run of base64', () => {
    const picture = 'A1b2'.repeat(2_000_000);
    expect(maskPayload({ picture, uris: [`data:image/png;base64,${picture}==`] })).to.deep.equal({
      picture: '[masked:base64 8000000]',
      uris: ['[masked:data-uri image/png 6000000]'],
    });
  });

  it('is left out where it is JSON: half of it could not be read', () => {
    const json = JSON.stringify({ password: ['hunter2'], words: 'word '.repeat(20_000) });
    expect(maskPayload({ json })).to.deep.equal({ json: '[masked:too-large]' });
  });

  it('does not keep the pictures behind it from being named', () => {
    const uri = `data:image/png;base64,${'A'.repeat(400_000)}`;
    const masked = maskPayload({
      texts: Array.from({ length: 9 }, () => 'word '.repeat(20_000)),
      uris: [uri, uri],
      n: 2,
    });
    expect(masked).to.deep.include({ uris: Array(2).fill('[masked:data-uri image/png 300000]'), n: 2 });
    expect(JSON.stringify(masked)).to.contain('[masked:too-large]');
    expect(maskPayload(masked)).to.deep.equal(masked);
  });

  it('stays the same when masked again, whatever grew in the first round', () => {
    for (const piece of ['a://b ', 'a://b,c ', 'key=b ', '[masked:base64 200] ', 'password: "b c" ']) {
      const once = maskPayload(piece.repeat(20_000));
      expect(maskPayload(once), piece).to.deep.equal(once);
    }
  });
});

function repeated(piece: string, megabytes: number): string {
  return piece.repeat(Math.ceil((megabytes * MEGABYTE) / piece.length));
}

function expectSwift(text: string): void {
  for (const mask of [maskPayload, maskText, maskErrorText]) expectInTime(() => mask(text));
  expectInTime(() => withoutEcho(text, 'the prompt of a user'));
  expectSwiftPayload({ unknown: text });
}

function expectSwiftPayload(payload: JsonValue): void {
  const masked = expectInTime(() => maskPayload(payload));
  expect(JSON.stringify(masked).length).to.be.below(2 * MEGABYTE);
}

/** Measures processor time, since the machine may be busy with other work. */
function expectInTime<Result>(work: () => Result): Result {
  const before = process.threadCpuUsage();
  const result = work();
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).to.be.below(LIMIT_MS);
  return result;
}

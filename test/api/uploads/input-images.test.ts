// Input images that are cut, something else than they say, or absurdly large are refused by their headers.
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import sharp from 'sharp';
import { inspectImages } from '../../../api/uploads/input-images.ts';
import { GatewayError } from '../../../domain/errors.ts';
import { isWholeInputImage } from '../../../domain/files/whole-inputs.ts';
import { PNG_BASE64 } from '../../support/inputs.ts';

const PARAM = 'image_urls[0]';
type Format = 'png' | 'jpeg' | 'webp';

describe('an input image', () => {
  const files = new Map<Format, Buffer>();

  before(async () => {
    for (const format of ['png', 'jpeg', 'webp'] as const) {
      const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
      const picture = sharp({ create: { width: 320, height: 200, channels: 3, background: 'red', noise } });
      files.set(format, await picture.toFormat(format).toBuffer());
    }
  });

  const bytesOf = (format: Format): Buffer => files.get(format) ?? Buffer.alloc(0);
  const uriOf = (format: string, bytes: Buffer): string =>
    `data:image/${format};base64,${bytes.toString('base64')}`;
  const inspect = (url: string) => inspectImages([{ url, param: PARAM }]);

  async function expectRefused(url: string, problem: RegExp): Promise<void> {
    const error: unknown = await inspect(url).catch((thrown: unknown) => thrown);
    if (!(error instanceof GatewayError)) throw new Error('it was not refused');
    expect([error.status, error.code, error.param]).to.deep.equal([400, 'invalid_image', PARAM]);
    expect(error.message)
      .to.match(problem)
      .and.match(/^image_urls\[0\] .*\.$/);
  }

  for (const format of ['png', 'jpeg', 'webp'] as const) {
    it(`that is a whole ${format} is known by its dimensions`, async () => {
      const bytes = bytesOf(format);
      expect(await inspect(uriOf(format, bytes))).to.deep.equal([
        { type: `image/${format}`, bytes: bytes.length, width: 320, height: 200 },
      ]);
    });

    it(`that is a whole ${format} with something behind its end is one, too`, async () => {
      expect(
        await inspect(uriOf(format, Buffer.concat([bytesOf(format), Buffer.from('more')]))),
      ).to.have.length(1);
    });

    it(`that is a ${format} cut off anywhere is refused`, async () => {
      const bytes = bytesOf(format);
      for (const length of [30, 100, bytes.length >> 1, bytes.length - 100, bytes.length - 1])
        await expectRefused(uriOf(format, bytes.subarray(0, length)), /cut off|is no image/);
    });

    it(`that is a ${format} and says something else is refused`, async () => {
      for (const other of ['png', 'jpeg', 'webp'].filter((name) => name !== format))
        await expectRefused(uriOf(other, bytesOf(format)), /not of the type that it declares/);
    });
  }

  it('that is a JPEG with a whole thumbnail in it, cut off behind that, is refused', async () => {
    const thumbnail = bytesOf('jpeg').subarray(0, 60_000);
    const segment = Buffer.from([0xff, 0xe1, (thumbnail.length + 2) >> 8, (thumbnail.length + 2) & 0xff]);
    const whole = bytesOf('jpeg');
    const nested = Buffer.concat([whole.subarray(0, 2), segment, thumbnail, whole.subarray(2)]);
    expect(await inspect(uriOf('jpeg', nested))).to.have.length(1);
    await expectRefused(uriOf('jpeg', nested.subarray(0, thumbnail.length + 2_000)), /cut off/);
  });

  for (const [width, height] of [
    [60_000, 60_000],
    [10_001, 10_000],
    [30_001, 1],
    [2 ** 31 - 1, 2 ** 31 - 1],
  ] as const)
    it(`of ${width} × ${height} pixels is refused without being decoded`, async () => {
      await expectRefused(uriOf('png', resized(width, height)), /too many|is no image/);
    });

  it('of a hundred megapixels is allowed', async () => {
    const [facts] = await inspect(uriOf('png', resized(10_000, 10_000)));
    expect([facts?.width, facts?.height]).to.deep.equal([10_000, 10_000]);
  });

  it('in text that is not base64 is refused', async () => {
    for (const change of [
      (text: string) => `${text.slice(0, 40)}****${text.slice(44)}`,
      (text: string) => `${text}=a`,
    ])
      await expectRefused(`data:image/png;base64,${change(PNG_BASE64)}`, /not base64/);
  });

  it('under a URL is not fetched, and of several the first bad one is named', async () => {
    const good = { url: uriOf('png', bytesOf('png')), param: 'a' };
    expect((await inspectImages([{ url: 'https://example.invalid/a.png', param: 'x' }, good]))[0]).to.equal(
      null,
    );
    const bad = { url: uriOf('webp', bytesOf('png')), param: 'b' };
    const error: unknown = await inspectImages([good, bad, good]).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(GatewayError).and.include({ param: 'b' });
  });

  it('is recognised as whole or not in linear time, whatever its bytes', async () => {
    for (const piece of ['\xff\xff', '\xff\x00', '\xff\xd8', '\xff\xe0\x00\x02', '\xff\xda\x00\x02a']) {
      const bytes = Buffer.from(`\xff\xd8\xff${piece.repeat(2_000_000 / piece.length)}`, 'latin1');
      const startedAt = performance.now();
      await expectRefused(uriOf('jpeg', bytes), /cut off/);
      expect(performance.now() - startedAt, piece).to.be.below(1_000);
    }
  });

  it('of 20 MiB that are all bytes 0xff and zero is looked through in less than 150 ms', () => {
    const bytes = Buffer.alloc(20 * 1024 * 1024, Buffer.from([0xff, 0x00]));
    bytes.set([0xff, 0xd8, 0xff, 0xda, 0x00, 0x02]);
    let bestMs = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 5; run += 1) {
      const startedAt = performance.now();
      expect(isWholeInputImage(bytes)).to.equal(false);
      bestMs = Math.min(bestMs, performance.now() - startedAt);
    }
    expect(bestMs).to.be.below(150);
  });
});

/** A PNG of one pixel whose header claims other dimensions, with the right checksum. */
function resized(width: number, height: number): Buffer {
  const bytes = Buffer.from(PNG_BASE64, 'base64');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
  return bytes;
}

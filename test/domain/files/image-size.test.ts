// The size of an image is read from the header of its data URI, whatever stands before it and however long.
import { expect } from 'chai';
import sharp, { type Sharp } from 'sharp';
import { sizeOfDataUri } from '../../../domain/files/image-size.ts';

const WIDTH = 1_025;
const HEIGHT = 333;
const SIZE = { width: WIDTH, height: HEIGHT };
/** Longest content of a segment of JPEG, with its length. */
const SEGMENT_BYTES = 0xffff;

const KINDS: Readonly<Record<string, (picture: Sharp) => Sharp>> = {
  png: (picture) => picture.png(),
  'interlaced png': (picture) => picture.png({ progressive: true }),
  jpeg: (picture) => picture.jpeg(),
  'progressive jpeg': (picture) => picture.jpeg({ progressive: true }),
  'jpeg with metadata': (picture) => picture.withMetadata({ orientation: 6 }).jpeg(),
  'lossy webp': (picture) => picture.webp(),
  'lossless webp': (picture) => picture.webp({ lossless: true }),
  'webp with alpha': (picture) => picture.ensureAlpha(0.5).webp(),
};

describe('the size of an image in a data URI', () => {
  const picture = (): Sharp =>
    sharp({ create: { width: WIDTH, height: HEIGHT, channels: 3, background: 'red' } });
  const sizeOf = (bytes: Buffer) => sizeOfDataUri(`data:image/any;base64,${bytes.toString('base64')}`);

  for (const [kind, make] of Object.entries(KINDS))
    it(`is that of a ${kind}`, async () => {
      expect(sizeOf(await make(picture()).toBuffer())).to.deep.equal(SIZE);
    });

  it('is found behind segments of any number and length, whose own pictures are passed over', async () => {
    const jpeg = await picture().jpeg().toBuffer();
    const inner = await sharp(jpeg).resize(8, 8).jpeg().toBuffer();
    for (const length of [0, 1, 2, 3, 4_085, 4_086, 4_087, 4_088, 4_089, SEGMENT_BYTES - 2])
      for (const number of [1, 2, 7]) {
        const segment = Buffer.alloc(4 + length, inner);
        segment.set([0xff, 0xe1, (length + 2) >> 8, (length + 2) & 0xff]);
        const segments = Array.from({ length: number }, () => segment);
        const bytes = Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
        expect(sizeOf(bytes), `${number} of ${length}`).to.deep.equal(SIZE);
      }
  });

  it('is unknown of what is cut off before it, empty, or no image', async () => {
    const jpeg = await picture().jpeg().toBuffer();
    const noFrame = Buffer.concat([jpeg.subarray(0, 2), Buffer.from('ffda0002', 'hex'), jpeg.subarray(2)]);
    for (const bytes of [Buffer.alloc(0), jpeg.subarray(0, 60), noFrame, Buffer.from('x'.repeat(200))])
      expect(sizeOf(bytes)).to.equal(null);
    expect(sizeOfDataUri('')).to.equal(null);
    const encoded = jpeg.toString('base64');
    for (const head of [
      '',
      ',',
      'data:,',
      'data:image/jpeg,',
      'data:text/plain;base64,',
      `data:${'x'.repeat(40)},`,
    ])
      expect(sizeOfDataUri(head + encoded), head).to.equal(null);
  });

  it('is given up within milliseconds in 20 MiB of segments of any length, and behind a late comma', () => {
    for (const [length, before] of [
      [2, ''],
      [4_088, ''],
      [SEGMENT_BYTES, ''],
      [4_088, 'x'.repeat(20 * 1024 ** 2)],
    ] as const) {
      const segment = Buffer.alloc(2 + length);
      segment.set([0xff, 0xe1, length >> 8, length & 0xff]);
      const bytes = Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(20 * 1024 ** 2, segment)]);
      const uri = `data:${before}image/jpeg;base64,${bytes.toString('base64')}`;
      const times = Array.from({ length: 5 }, () => {
        const begun = process.threadCpuUsage();
        expect(sizeOfDataUri(uri)).to.equal(null);
        return process.threadCpuUsage(begun).user / 1000;
      });
      expect(Math.min(...times), `${length}, ${before.length}`).to.be.below(10);
    }
  });
});

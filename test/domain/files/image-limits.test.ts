// An input image that its model's vendor would refuse is refused with a sentence that names the limit.
import { expect } from 'chai';
import { explainImageLimits, type ImageFacts } from '../../../domain/files/image-limits.ts';

const LIMITS = {
  formats: ['jpeg', 'png'],
  bytesMax: 10_000_000,
  sidePixelsMin: 300,
  sidePixelsMax: 6_000,
  sidesRatioMax: 2.5,
} as const;
const IMAGE: ImageFacts = { type: 'image/png', bytes: 1_000, width: 800, height: 400 };

const explain = (changes: Partial<ImageFacts>) =>
  explainImageLimits({ ...IMAGE, ...changes }, { ...LIMITS, formats: [...LIMITS.formats] }, 'kling-3.0');

describe('the limits of input images', () => {
  it('take what is within them, up to their very edges', () => {
    expect(explain({})).to.equal(null);
    expect(explain({ width: 300, height: 750, bytes: 10_000_000 })).to.equal(null);
    expect(explain({ width: 6_000, height: 2_400, type: 'image/jpeg' })).to.equal(null);
    expect(explainImageLimits({ ...IMAGE, width: 1, height: 1 }, {}, 'gpt-image-2')).to.equal(null);
  });

  for (const [changes, sentence] of [
    [{ type: 'image/webp' }, 'is image/webp: kling-3.0 takes images in the formats jpeg, png'],
    [{ bytes: 10_000_001 }, 'has 10000001 bytes: kling-3.0 takes images of at most 10 MB'],
    [{ width: 299 }, 'has 299 × 400 pixels: kling-3.0 takes images of at least 300 pixels a side'],
    [{ height: 6_001 }, 'has 800 × 6001 pixels: kling-3.0 takes images of at most 6000 pixels a side'],
    [
      { width: 1_001 },
      'has 1001 × 400 pixels: kling-3.0 takes images whose longer side is at most 2.5 times the shorter one',
    ],
  ] as const)
    it(`refuse ${JSON.stringify(changes)}`, () => {
      expect(explain(changes)).to.equal(sentence);
    });
});

// Combinations of parameters: rules that hold for some orders of a model and not for others.
import { expect } from 'chai';
import type { Combination } from '../../../domain/catalog/catalog.ts';
import { checkCombinations, type CombinedOrder } from '../../../domain/orders/combinations.ts';
import { GatewayError } from '../../../domain/errors.ts';

const NAMES = {
  ratio: 'size',
  resolution: 'metadata.resolution',
  audio: 'metadata.audio',
  inputImages: 'image_urls',
};
const ORDER: CombinedOrder = {
  seconds: 5,
  resolution: '720p',
  audio: true,
  imageRole: 'none',
  inputImages: 0,
  inputVideos: 0,
};

/** Returns the parameter and the sentence of the refusal, or null where the order is accepted. */
function refusal(combination: Combination, changes: Partial<CombinedOrder> = {}): [unknown, string] | null {
  try {
    checkCombinations([combination], { ...ORDER, ...changes }, NAMES);
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [error.param, error.message];
  }
}

describe('a combination', () => {
  const narrowed: [Combination, Partial<CombinedOrder>, string, string][] = [
    [{ resolution: '720p', durations: { values: [6] } }, {}, 'duration', 'must be 6 (whole seconds) at 720p'],
    [
      { imageRole: 'references', durations: { min: 1, max: 4 } },
      { imageRole: 'references' },
      'duration',
      'must be 1 to 4 (whole seconds) with input images as references',
    ],
    [
      { imageRole: 'none', resolutions: ['768p', '1080p'] },
      {},
      'metadata.resolution',
      'must be one of 768p, 1080p without input images',
    ],
    [{ resolution: '720p', audio: [false] }, {}, 'metadata.audio', 'must be false at 720p'],
    [
      { inputVideo: true, audio: [false] },
      { inputVideos: 2 },
      'metadata.audio',
      'must be false with input videos',
    ],
    [
      { imageRole: 'first_frame', inputVideosMax: 0 },
      { imageRole: 'first_frame', inputVideos: 1 },
      'video_urls',
      'may have at most 0 entries with input images as first frame',
    ],
    [
      { inputVideo: true, inputImagesMax: 4 },
      { inputImages: 5, inputVideos: 1 },
      'image_urls',
      'may have at most 4 entries with input videos',
    ],
  ];
  for (const [combination, changes, param, problem] of narrowed)
    it(`refuses ${JSON.stringify(changes)} by ${JSON.stringify(combination)}`, () => {
      expect(refusal(combination, changes)).to.deep.equal([param, `${param} ${problem}.`]);
    });

  const untouched: [Combination, Partial<CombinedOrder>][] = [
    [{ resolution: '1080p', durations: { values: [6] } }, {}],
    [{ resolution: '720p', durations: { values: [5] } }, {}],
    [{ imageRole: 'references', durations: { values: [6] } }, { imageRole: 'first_frame' }],
    [{ inputVideo: true, audio: [false] }, {}],
    [
      { inputVideo: true, audio: [false] },
      { inputVideos: 1, audio: false },
    ],
    [
      { inputVideo: true, audio: [false] },
      { inputVideos: 1, audio: null },
    ],
    [{ imageRole: 'first_frame', inputVideosMax: 0 }, { imageRole: 'first_frame' }],
  ];
  for (const [combination, changes] of untouched)
    it(`has nothing against ${JSON.stringify(changes)} by ${JSON.stringify(combination)}`, () => {
      expect(refusal(combination, changes)).to.equal(null);
    });
});

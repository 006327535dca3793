// Every size that the gateway offers: within the vendor's limits, and taken as it is by the sandbox's OpenAI
// alone, several at once, and from references.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { createOpenaiImages } from '../../../providers/openai/images.ts';
import { RATIOS, RESOLUTIONS, sizeOf } from '../../../providers/openai/image-sizes.ts';
import type { Provider, UpstreamJob } from '../../../providers/provider.ts';
import { readJobs } from '../../support/servers/sandbox.ts';
import { imageJob, PNG } from '../stand-in.ts';

const DATA_URI = `data:image/png;base64,${PNG.toString('base64')}`;

describe('OpenAI images at the sandbox', () => {
  let sandbox: Sandbox;
  let provider: Provider;

  before(async () => {
    sandbox = await startSandbox({ port: 0, host: '127.0.0.1' });
    provider = createOpenaiImages({
      baseUrl: `${sandbox.url}/openai/v1`,
      credentials: [{ id: 'default', key: 'sk-test' }],
      upstreamTimeoutMs: 5_000,
    });
  });
  after(() => sandbox.close());

  /** Orders pictures, and returns what the vendor understood and how many pictures came. */
  async function paint(order: Partial<UpstreamJob['order']>, inputImages: string[] = []) {
    const marker = randomUUID();
    const submission = await provider.submit(
      imageJob({
        upstreamModel: 'gpt-image-2',
        prompt: `a cat ${marker} [[sandbox seconds=0]]`,
        inputImages,
        order: { ...imageJob().order, ...order },
      }),
    );
    if (submission.kind !== 'finished') throw new Error(`submission is ${submission.kind}`);
    const jobs = await readJobs(sandbox.url, marker);
    expect(jobs).to.have.length(1);
    return { ordered: jobs[0]?.ordered, pictures: submission.results.length };
  }

  for (const ratio of RATIOS) {
    it(`takes ${ratio} in every resolution, with and without references`, async () => {
      for (const resolution of RESOLUTIONS) {
        const [width, height] = (sizeOf(ratio, resolution) ?? '').split('x').map(Number);
        const painted = await paint({ ratio, resolution });
        expect(painted.ordered, resolution).to.include({ width, height, count: 1, inputImages: 0 });
        const edited = await paint({ ratio, resolution, imageRole: 'references', inputImages: 1 }, [
          DATA_URI,
        ]);
        expect(edited.ordered, resolution).to.include({ width, height, inputImages: 1 });
        expect([painted.pictures, edited.pictures], resolution).to.deep.equal([1, 1]);
      }
    });
  }

  for (const images of [1, 2, 10])
    it(`delivers ${images} of ${images} pictures, also from sixteen references`, async () => {
      const references = Array.from({ length: 16 }, () => DATA_URI);
      const order = { images, imageRole: 'references', inputImages: 16 } as const;
      expect((await paint({ images })).pictures).to.equal(images);
      const edited = await paint(order, references);
      expect(edited.ordered).to.include({ count: images, inputImages: 16 });
      expect(edited.pictures).to.equal(images);
    });
});

describe('OpenAI images', () => {
  describe('sizes', () => {
    for (const ratio of RATIOS) {
      it(`of ${ratio} keep the vendor’s limits and nearly the ratio`, () => {
        for (const resolution of RESOLUTIONS) {
          const [width = 0, height = 0] = (sizeOf(ratio, resolution) ?? '').split('x').map(Number);
          const [across = 0, down = 0] = ratio.split(':').map(Number);
          expect([width % 16, height % 16], resolution).to.deep.equal([0, 0]);
          expect(Math.max(width, height), resolution).to.be.at.most(3_840);
          expect(Math.max(width, height) / Math.min(width, height), resolution).to.be.at.most(3);
          expect(width * height, resolution).to.be.within(655_360, 8_294_400);
          expect(width / height, resolution).to.be.closeTo(across / down, (across / down) * 0.02);
        }
      });
    }

    it('are thirteen ratios, growing with the resolution', () => {
      expect(RATIOS.length).to.equal(13);
      const pixels = (size: string | null): number =>
        (size ?? '')
          .split('x')
          .map(Number)
          .reduce((a, b) => a * b, 1);
      for (const ratio of RATIOS) {
        const [small = 0, middle = 0, large = 0] = RESOLUTIONS.map((resolution) =>
          pixels(sizeOf(ratio, resolution)),
        );
        expect(middle / small, ratio).to.be.within(3.7, 4.2);
        expect(large, ratio).to.be.above(middle);
      }
    });
  });
});

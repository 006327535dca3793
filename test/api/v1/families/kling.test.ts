// Kling through the public API: both of its APIs, lost answers that are found again, and what may not be
// ordered.
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from '../../../support/servers/gateway.ts';
import { FRAME_DATA_URI } from '../../../support/inputs.ts';
import { countSubmissions, readJobs } from '../../../support/servers/sandbox.ts';
import { expectMaskedFailure, videoOrders } from '../../../support/video-orders.ts';

const PICTURE = 'https://example.com/a.png';
const VIDEO = 'https://example.com/a.mp4';

describe('Kling on /v1/videos/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    // A plain key serves every model, a pair those before 3.0: whose tokens have to be of their time.
    gateway = await startGateway({ env: { KLING_API_KEY: 'plain,access:secret' } });
    owner = await gateway.createUser(10_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const { order, finish, expectRefused } = videoOrders(() => ({ gateway, owner }), 'kling-3.0');
  const jobsOf = (word: string) => readJobs(gateway.sandboxUrl, word);

  it('completes with concrete values, one submission, a file, and a charge that is the estimate', async () => {
    const fields = { duration: 3, size: '9:16', metadata: { resolution: '1080p', audio: true } };
    const { id, word, creditsEstimate } = await order({ model: 'kling-3.0', ...fields });
    expect(creditsEstimate).to.equal(100.8);
    const task = await finish(id);
    expect(task).to.include({ status: 'completed', creditsCharged: 100.8, billingMode: 'per_second' });
    expect((await fetch(task.outputUrl)).headers.get('content-type')).to.equal('video/mp4');
    expect((await jobsOf(word)).map(({ ordered }) => ordered)).to.deep.equal([
      {
        kind: 'text-to-video',
        model: 'kling-3.0',
        seconds: 3,
        resolution: '1080p',
        ratio: '9:16',
        audio: true,
        inputImages: 0,
        inputVideos: 0,
        externalId: `${id}-1`,
      },
    ]);
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
  });

  const kinds: [model: string, fields: object, kind: string, credits: number][] = [
    ['kling-v2-5-turbo', {}, 'text2video', 42],
    ['kling-v2-6', { metadata: { resolution: '1080p', audio: true } }, 'text2video', 140],
    [
      'kling-v2-6',
      { image_urls: [FRAME_DATA_URI, PICTURE], metadata: { resolution: '1080p' } },
      'image2video',
      70,
    ],
    ['kling-3.0', { image_urls: [FRAME_DATA_URI], metadata: { audio: false } }, 'image-to-video', 84],
    ['kling-3.0-turbo', { image_urls: [FRAME_DATA_URI] }, 'image-to-video', 112],
    ['kling-3.0-omni', { metadata: { resolution: '4k' } }, 'omni-video', 420],
    ['kling-3.0-omni', { reference_images: [PICTURE, FRAME_DATA_URI] }, 'omni-video', 84],
    ['kling-3.0-omni', { video_urls: [VIDEO] }, 'omni-video', 126],
  ];
  for (const [model, fields, kind, credits] of kinds)
    it(`sends ${model} with ${JSON.stringify(fields).slice(0, 50)} as ${kind} at its own price`, async () => {
      const { id, word } = await order({ model, ...fields, duration: 5 });
      expect(await finish(id)).to.include({ status: 'completed', creditsCharged: credits });
      const [job] = await jobsOf(word);
      expect(job?.ordered).to.include({ kind, model, seconds: 5 });
    });

  for (const model of ['kling-v2-6', 'kling-3.0'])
    it(`finds a job of ${model} whose answer was lost, and hands over again what never arrived`, async () => {
      const lost = await order({ model }, 'seconds=0 submit=accept_then_reset');
      expect(await finish(lost.id)).to.include({ status: 'completed' });
      expect(await countSubmissions(gateway.sandboxUrl, lost.word)).to.equal(1);
      const absent = await order({ model }, 'seconds=0 submit=reset*1');
      expect(await finish(absent.id)).to.include({ status: 'completed' });
      expect(await jobsOf(absent.word)).to.have.length(1);
      expect(await countSubmissions(gateway.sandboxUrl, absent.word)).to.equal(2);
    });

  it('charges nothing for a failure and masks its words', async () => {
    for (const directives of ['outcome=fail', 'outcome=moderated', 'submit=400']) {
      const { id } = await order({ model: 'kling-3.0' }, `seconds=0 text=leaky ${directives}`);
      const task = await finish(id);
      expectMaskedFailure(task, directives);
    }
  });

  it('never charges more than the estimate, whatever the vendor says it billed', async () => {
    const { id, creditsEstimate } = await order(
      { model: 'kling-3.0', duration: 3 },
      'seconds=0 usage=triple',
    );
    expect(await finish(id)).to.include({ status: 'completed', creditsCharged: creditsEstimate });
  });

  const refusals: [model: string, fields: object, param: string, allowed: string][] = [
    ['kling-3.0', { duration: 16 }, 'duration', '3 to 15'],
    ['kling-v2-6', { duration: 6 }, 'duration', '5, 10'],
    ['kling-3.0', { metadata: { resolution: '480p' } }, 'metadata.resolution', '720p, 1080p, 4k'],
    ['kling-3.0', { size: '4:3' }, 'size', '16:9, 9:16, 1:1'],
    ['kling-v2-6', { metadata: { audio: true } }, 'metadata.audio', 'must be false at 720p'],
    ['kling-3.0-turbo', { metadata: { audio: false } }, 'metadata.audio', 'must be true'],
    ['kling-3.0-turbo', { image_urls: [PICTURE, PICTURE] }, 'image_urls', 'at most 1'],
    [
      'kling-v2-5-turbo',
      { image_urls: [PICTURE, PICTURE] },
      'resolution',
      '1080p with input images as first and last frame',
    ],
    [
      'kling-v2-6',
      { image_urls: [PICTURE, PICTURE], metadata: { resolution: '1080p', audio: true } },
      'metadata.audio',
      'must be false with input images as first and last frame',
    ],
    [
      'kling-3.0-omni',
      { reference_images: Array.from({ length: 5 }, () => PICTURE), video_urls: [VIDEO] },
      'reference_images',
      'at most 4 entries with input videos',
    ],
    ['kling-3.0', { reference_images: [PICTURE] }, 'reference_images', 'no reference_images'],
    [
      'kling-3.0-omni',
      { video_urls: [VIDEO], metadata: { audio: true } },
      'metadata.audio',
      'with input videos',
    ],
    ['kling-3.0', { video_urls: [VIDEO] }, 'video_urls', 'no input videos'],
  ];
  for (const [model, fields, param, allowed] of refusals)
    it(`refuses ${model} with ${JSON.stringify(fields).slice(0, 50)} and names what is allowed`, () =>
      expectRefused({ model, ...fields }, param, allowed));
});

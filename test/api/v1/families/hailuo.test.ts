// MiniMax's videos through the public API: both of its APIs, links that are renewed, and what may not be
// ordered.
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from '../../../support/servers/gateway.ts';
import { FRAME_DATA_URI } from '../../../support/inputs.ts';
import { countSubmissions, readJobs, readJournal } from '../../../support/servers/sandbox.ts';
import { until, untilFinal, untilStatus } from '../../../support/until.ts';
import { expectMaskedFailure, videoOrders } from '../../../support/video-orders.ts';

const VIDEO = 'https://example.com/a.mp4';

describe('MiniMax on /v1/videos/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(10_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const { order, finish, expectRefused } = videoOrders(() => ({ gateway, owner }), 'minimax-hailuo-2.3');
  const jobsOf = (word: string) => readJobs(gateway.sandboxUrl, word);

  it('completes a Hailuo video at the price of the whole, from the order to the file', async () => {
    const fields = { duration: 6, metadata: { resolution: '1080p' } };
    const { id, word, creditsEstimate } = await order({ model: 'minimax-hailuo-2.3', ...fields });
    expect(creditsEstimate).to.equal(98);
    const task = await finish(id);
    expect(task).to.include({ status: 'completed', creditsCharged: 98, billingMode: 'per_task' });
    expect((await fetch(task.outputUrl)).headers.get('content-type')).to.equal('video/mp4');
    const [job] = await jobsOf(word);
    expect(job?.ordered).to.include({
      model: 'MiniMax-Hailuo-2.3',
      seconds: 6,
      resolution: '1080P',
      inputImages: 0,
    });
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
  });

  it('completes an H3 video at the price of its seconds and of those of its input video', async () => {
    const fields = { duration: 4, size: '21:9', video_urls: [VIDEO], metadata: { resolution: '2K' } };
    const { id, word, creditsEstimate } = await order({ model: 'minimax-h3', ...fields });
    expect(creditsEstimate).to.equal(26 * (4 + 15)); // the length of the input video is not known yet
    expect(await finish(id)).to.include({ status: 'completed', creditsCharged: 26 * (4 + 5) });
    const [job] = await jobsOf(word);
    expect(job?.ordered).to.include({ seconds: 4, resolution: '2K', ratio: '21:9', inputVideos: 1 });
  });

  const inputs: [model: string, fields: object, images: number, credits: number][] = [
    ['minimax-hailuo-2.3-fast', { image_urls: [FRAME_DATA_URI] }, 1, 38],
    ['minimax-hailuo-02', { image_urls: [FRAME_DATA_URI], metadata: { resolution: '512p' } }, 1, 20],
    ['minimax-hailuo-02', { image_urls: [FRAME_DATA_URI, FRAME_DATA_URI] }, 2, 56],
    ['minimax-h3', { image_urls: [FRAME_DATA_URI, FRAME_DATA_URI] }, 2, 96],
    ['minimax-h3', { reference_images: Array.from({ length: 6 }, () => FRAME_DATA_URI) }, 6, 104],
    ['minimax-h3', { metadata: { last_frame: FRAME_DATA_URI, watermark: true } }, 1, 96],
  ];
  for (const [model, fields, images, credits] of inputs)
    it(`takes ${images} images for ${model} at its own price`, async () => {
      const { id, word } = await order({ model, ...fields, duration: 6 });
      expect(await finish(id)).to.include({ status: 'completed', creditsCharged: credits });
      const [job] = await jobsOf(word);
      expect(job?.ordered).to.include({ seconds: 6, inputImages: images });
    });

  for (const model of ['minimax-hailuo-2.3', 'minimax-h3'])
    it(`asks for a fresh link when that of ${model} is gone`, async () => {
      const { id, word } = await order({ model }, 'seconds=0 result=404*1');
      expect(await finish(id)).to.include({ status: 'completed' });
      const entries = await readJournal(gateway.sandboxUrl, word);
      const downloads = entries.filter(({ operation }) => operation === 'download');
      expect(downloads.map(({ status }) => status)).to.deep.equal([404, 200]);
    });

  it('does not hand over again what may have been taken', async () => {
    const { id, word } = await order({ model: 'minimax-h3' }, 'seconds=0 submit=accept_then_reset');
    expect(await finish(id)).to.include({ status: 'failed', creditsCharged: 0 });
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
  });

  it('charges nothing for a failure and masks its words', async () => {
    for (const model of ['minimax-hailuo-2.3', 'minimax-h3'])
      for (const directives of ['outcome=fail', 'outcome=moderated', 'submit=400']) {
        const { id } = await order({ model }, `seconds=0 text=leaky ${directives}`);
        const task = await finish(id);
        expectMaskedFailure(task, directives);
      }
  });

  it('is stopped at the vendor when its owner cancels an H3 video in time', async () => {
    const { id, word } = await order({ model: 'minimax-h3' }, 'seconds=600');
    await untilStatus(owner.session, id, 'in_progress');
    await until('it was looked at', async () =>
      (await readJournal(gateway.sandboxUrl, word)).some(({ operation }) => operation === 'poll'),
    );
    await owner.session.delete(`/api/tasks/${id}`);
    expect(await untilFinal(owner.session, id)).to.include({ status: 'cancelled', creditsCharged: 0 });
    const [job] = await jobsOf(word);
    expect(job?.state).to.equal('cancelled');
  });

  const image = [FRAME_DATA_URI];
  const refusals: [model: string, fields: object, param: string, allowed: string][] = [
    ['minimax-hailuo-2.3', { duration: 5 }, 'duration', '6, 10'],
    [
      'minimax-hailuo-2.3',
      { duration: 10, resolution: '1080p' },
      'duration',
      'must be 6 (whole seconds) at 1080p',
    ],
    ['minimax-hailuo-2.3', { resolution: '512p' }, 'resolution', '768p, 1080p'],
    ['minimax-hailuo-2.3', { size: '16:9' }, 'size', 'does not offer'],
    ['minimax-hailuo-2.3-fast', {}, 'image_urls', '1 to 1 input images'],
    ['minimax-hailuo-02', { resolution: '512p' }, 'resolution', '768p, 1080p without input images'],
    ['minimax-h3', { duration: 16 }, 'duration', '4 to 15'],
    ['minimax-h3-max', { duration: 4 }, 'duration', '5 to 15'],
    ['minimax-h3', { metadata: { resolution: '480p' } }, 'metadata.resolution', '768p, 2K'],
    ['minimax-h3-max', { reference_images: image }, 'reference_images', 'no reference_images'],
    ['minimax-h3', { size: '2:1' }, 'size', '16:9, 9:16, 1:1, 4:3, 3:4, 21:9'],
    ['minimax-h3', { image_urls: image, video_urls: [VIDEO] }, 'video_urls', 'at most 0 entries'],
    ['minimax-h3', { video_urls: Array.from({ length: 4 }, () => VIDEO) }, 'video_urls', 'at most 3'],
  ];
  for (const [model, fields, param, allowed] of refusals)
    it(`refuses ${model} with ${JSON.stringify(fields).slice(0, 50)} and names what is allowed`, () =>
      expectRefused({ model, ...fields }, param, allowed));
});

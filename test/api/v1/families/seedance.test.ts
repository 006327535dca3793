// Seedance through the public API: from the order to the result, its money by the token, and what may not be
// ordered.
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from '../../../support/servers/gateway.ts';
import { FRAME_DATA_URI } from '../../../support/inputs.ts';
import { countSubmissions, readJobs, readJournal } from '../../../support/servers/sandbox.ts';
import { until, untilFinal } from '../../../support/until.ts';
import { expectMaskedFailure, videoOrders } from '../../../support/video-orders.ts';

const MODEL = 'seedance-2.0';
const VIDEO_URL = 'https://example.com/a.mp4';

describe('Seedance on /v1/videos/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(50_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const { order, finish, expectRefused } = videoOrders(() => ({ gateway, owner }), MODEL);

  it('completes, charges the tokens and serves the file', async () => {
    const { id, word, creditsEstimate } = await order({ duration: 5, metadata: { resolution: '720p' } });
    // The price is that of 108,900 tokens at 1,400 credits per million.
    expect(creditsEstimate).to.equal(152.46);
    const task = await finish(id);
    expect(task).to.include({ status: 'completed', creditsCharged: 152.46, billingMode: 'per_token' });
    const video = await fetch(task.outputUrl);
    expect(video.headers.get('content-type')).to.equal('video/mp4');
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
    const [job] = await readJobs(gateway.sandboxUrl, word);
    expect(job?.ordered).to.include({
      model: 'dreamina-seedance-2-0-260128',
      duration: 5,
      resolution: '720p',
      ratio: '16:9',
      generateAudio: true,
    });
  });

  const orders: [fields: object, ordered: object][] = [
    [{ model: 'seedance-2.5' }, { model: 'dreamina-seedance-2-5-260628', duration: 5, ratio: '16:9' }],
    // The vendor takes the ratio from the picture, and the sandbox's answer is its largest frame.
    [
      { model: 'seedance-2.5', image_urls: [FRAME_DATA_URI] },
      { ratio: '4:3', inputImages: 1 },
    ],
    [{ image_urls: [FRAME_DATA_URI, FRAME_DATA_URI] }, { ratio: '16:9', inputImages: 2 }],
    [
      { reference_images: [FRAME_DATA_URI], video_urls: [VIDEO_URL] },
      { inputImages: 1, inputVideos: 1 },
    ],
    [{ size: 'adaptive' }, { ratio: '4:3' }],
    [{ metadata: { resolution: '1080p', audio: false } }, { resolution: '1080p', generateAudio: false }],
    [
      { model: 'seedance-2.0-fast', duration: 4 },
      { model: 'dreamina-seedance-2-0-fast-260128', duration: 4 },
    ],
    [{ model: 'seedance-2.0-mini' }, { model: 'dreamina-seedance-2-0-mini-260615' }],
    [
      { model: 'seedance-2.5', video_urls: [VIDEO_URL], metadata: { resolution: '1080p' } },
      { resolution: '1080p', inputVideos: 1 },
    ],
    [
      { model: 'seedance-1.0-pro-fast', size: '21:9' },
      { model: 'seedance-1-0-pro-fast-251015', ratio: '21:9' },
    ],
    [
      { model: 'seedance-1.0-pro', duration: 2 },
      { model: 'seedance-1-0-pro-250528', generateAudio: null },
    ],
  ];
  for (const [fields, ordered] of orders)
    it(`makes ${JSON.stringify(fields).slice(0, 70)} for no more than its estimate`, async () => {
      const { id, word, creditsEstimate } = await order(fields);
      const task = await finish(id);
      expect(task.status).to.equal('completed');
      expect(task.creditsCharged).to.be.above(0).and.at.most(creditsEstimate);
      const [job] = await readJobs(gateway.sandboxUrl, word);
      expect(job?.ordered).to.include(ordered);
    });

  it('charges the estimate when the vendor reports too much, or nothing', async () => {
    for (const usage of ['triple', 'missing', 'huge', 'text']) {
      const { id, creditsEstimate } = await order({}, `seconds=0 usage=${usage}`);
      expect(await finish(id), usage).to.include({ status: 'completed', creditsCharged: creditsEstimate });
    }
  });

  it('finds the job again when the answer to its submission was lost, and submits once', async () => {
    const { id, word } = await order({}, 'seconds=0 submit=accept_then_reset');
    expect(await finish(id)).to.include({ status: 'completed', creditsCharged: 152.46 });
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
  });

  it('charges nothing for a failure and masks its words', async () => {
    for (const directives of ['outcome=fail', 'outcome=moderated', 'submit=400']) {
      const { id } = await order({}, `seconds=0 text=leaky ${directives}`);
      const task = await finish(id);
      expectMaskedFailure(task, directives);
    }
  });

  it('is stopped at the vendor when its owner cancels it while it is queued there', async () => {
    const { id, word } = await order({}, 'seconds=600');
    await until('it was looked at', async () =>
      (await readJournal(gateway.sandboxUrl, word)).some(({ operation }) => operation === 'poll'),
    );
    await owner.session.delete(`/api/tasks/${id}`);
    expect(await untilFinal(owner.session, id)).to.include({ status: 'cancelled', creditsCharged: 0 });
    const [job] = await readJobs(gateway.sandboxUrl, word);
    expect(job?.state).to.equal('cancelled');
  });

  const refusals: [fields: object, param: string, allowed: string][] = [
    [{ duration: 3 }, 'duration', '4 to 15'],
    [{ duration: -1 }, 'duration', '4 to 15'],
    [{ model: 'seedance-2.5', duration: 31 }, 'duration', '4 to 30'],
    [{ model: 'seedance-2.0-mini', metadata: { resolution: '1080p' } }, 'metadata.resolution', '480p, 720p'],
    [{ size: '2:1' }, 'size', '16:9, 4:3, 1:1, 3:4, 9:16, 21:9, adaptive'],
    [{ model: 'seedance-1.0-pro', size: 'adaptive' }, 'size', '16:9, 4:3'],
    [{ model: 'seedance-1.0-pro', metadata: { audio: true } }, 'metadata.audio', 'does not offer'],
    [
      { model: 'seedance-1.0-pro', reference_images: [FRAME_DATA_URI] },
      'reference_images',
      'no reference_images',
    ],
    [{ image_urls: [FRAME_DATA_URI], video_urls: [VIDEO_URL] }, 'video_urls', 'at most 0'],
    [{ prompt: 'a fox --duration 15' }, 'prompt', 'such as --duration'],
    [{ prompt: 'a fox --rs 1080p' }, 'prompt', 'such as --rs'],
  ];
  for (const [fields, param, allowed] of refusals)
    it(`refuses ${JSON.stringify(fields).slice(0, 60)} and names what is allowed`, () =>
      expectRefused(fields, param, allowed));
});

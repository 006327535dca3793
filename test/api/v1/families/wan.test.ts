// Wan through the public API: from the order to the result, its money, and what may not be ordered.
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from '../../../support/servers/gateway.ts';
import { FRAME_DATA_URI } from '../../../support/inputs.ts';
import { countSubmissions, readJobs, readJournal } from '../../../support/servers/sandbox.ts';
import { until, untilFinal } from '../../../support/until.ts';
import { expectMaskedFailure, videoOrders } from '../../../support/video-orders.ts';

const MODEL = 'wan3.0-video';
const VIDEO_URL = 'https://example.com/a.mp4';

describe('Wan on /v1/videos/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(50_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const { order, finish, expectRefused } = videoOrders(() => ({ gateway, owner }), MODEL);

  it('completes, charges by the second and serves the file', async () => {
    const { id, word, creditsEstimate } = await order({ duration: 3, metadata: { resolution: '480p' } });
    expect(creditsEstimate).to.equal(30);
    const task = await finish(id);
    expect(task).to.include({ status: 'completed', creditsCharged: 30, billingMode: 'per_second' });
    const video = await fetch(task.outputUrl);
    expect(video.headers.get('content-type')).to.equal('video/mp4');
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
    const [job] = await readJobs(gateway.sandboxUrl, word);
    expect(job?.ordered).to.include({
      model: MODEL,
      duration: 3,
      resolution: '480P',
      ratio: '16:9',
      audio: true,
    });
  });

  const orders: [fields: object, credits: number, ordered: object][] = [
    [{ model: 'wan3.0-video-prime', duration: 2 }, 56, { model: 'wan3.0-video-prime', resolution: '720P' }],
    [{ image_urls: [FRAME_DATA_URI], metadata: { audio: false } }, 100, { audio: false, duration: 5 }],
    [{ reference_images: [FRAME_DATA_URI], size: '1:1' }, 100, { ratio: '1:1' }],
    [{ model: 'wan2.7-t2v', duration: 2 }, 40, { model: 'wan2.7-t2v', duration: 2 }],
    [
      {
        model: 'wan2.7-i2v',
        image_urls: [FRAME_DATA_URI, FRAME_DATA_URI],
        metadata: { resolution: '1080p' },
      },
      150,
      { resolution: '1080P' },
    ],
  ];
  for (const [fields, credits, ordered] of orders)
    it(`makes ${JSON.stringify(fields).slice(0, 70)} for ${credits} credits`, async () => {
      const { id, word } = await order(fields);
      expect(await finish(id)).to.include({ status: 'completed', creditsCharged: credits });
      const [job] = await readJobs(gateway.sandboxUrl, word);
      expect(job?.ordered).to.include(ordered);
    });

  it('charges the seconds of a reference video as they turn out', async () => {
    const { id, creditsEstimate } = await order({ duration: 4, video_urls: [VIDEO_URL] });
    expect(creditsEstimate).to.equal(640); // 4 seconds and at most 28
    expect(await finish(id)).to.include({ status: 'completed', creditsCharged: 180 }); // 4 and 5
  });

  it('shows the prompt as its owner wrote it', async () => {
    const { id, prompt } = await order();
    expect((await finish(id)).requestPayload.prompt).to.equal(prompt);
  });

  it('waits for a task that the vendor does not know at first', async () => {
    const { id, word } = await order({}, 'seconds=0 poll=not_found*2');
    expect(await finish(id)).to.include({ status: 'completed' });
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
  });

  it('finds the task again when the answer to its submission was lost, and submits once', async () => {
    const { id, word } = await order({}, 'seconds=0 submit=accept_then_reset');
    expect(await finish(id)).to.include({ status: 'completed', creditsCharged: 100 });
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
  });

  it('charges nothing for a failure and masks its words', async () => {
    for (const directives of ['outcome=fail', 'outcome=moderated', 'submit=400']) {
      const { id } = await order({}, `seconds=0 text=leaky ${directives}`);
      const task = await finish(id);
      expectMaskedFailure(task, directives);
    }
  });

  it('is stopped at the vendor when its owner cancels it while it is pending there', async () => {
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
    [{ duration: 31 }, 'duration', '2 to 30'],
    [{ duration: 29, video_urls: [VIDEO_URL] }, 'duration', '2 to 28'],
    [{ model: 'wan2.7-t2v', duration: 16 }, 'duration', '2 to 15'],
    [{ metadata: { resolution: '4k' } }, 'metadata.resolution', '480p, 720p, 1080p'],
    [{ model: 'wan2.7-t2v', metadata: { resolution: '480p' } }, 'metadata.resolution', '720p, 1080p'],
    [{ size: '21:9' }, 'size', '16:9, 4:3, 1:1, 3:4, 9:16, adaptive'],
    [{ model: 'wan2.7-t2v', metadata: { audio: false } }, 'metadata.audio', 'must be true'],
    [{ model: 'wan2.7-t2v', image_urls: [FRAME_DATA_URI] }, 'image_urls', 'no input images'],
    [{ model: 'wan2.7-i2v' }, 'image_urls', '1 to 2 input images'],
    [{ image_urls: [FRAME_DATA_URI], video_urls: [VIDEO_URL] }, 'video_urls', 'at most 0'],
  ];
  for (const [fields, param, allowed] of refusals)
    it(`refuses ${JSON.stringify(fields).slice(0, 60)} and names what is allowed`, () =>
      expectRefused(fields, param, allowed));
});

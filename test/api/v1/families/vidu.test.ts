// Vidu through the public API: from the order to the result, its money, and what may not be ordered.
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from '../../../support/servers/gateway.ts';
import { PNG_DATA_URI } from '../../../support/inputs.ts';
import { readJobs, readJournal } from '../../../support/servers/sandbox.ts';
import { until, untilFinal, untilStatus } from '../../../support/until.ts';
import { expectMaskedFailure, videoOrders } from '../../../support/video-orders.ts';

describe('Vidu on /v1/videos/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(10_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const { order, finish, expectRefused } = videoOrders(() => ({ gateway, owner }), 'viduq3-turbo');
  const jobsOf = (word: string) => readJobs(gateway.sandboxUrl, word);

  it('completes, charges the vendor’s credits and serves the file', async () => {
    const { id, word, creditsEstimate } = await order({
      duration: 3,
      size: '1:1',
      metadata: { resolution: '540p', audio: false },
    });
    const task = await finish(id);
    expect(task).to.include({ status: 'completed', creditsCharged: 21, billingMode: 'per_second' });
    expect(creditsEstimate).to.equal(21);
    const video = await fetch(task.outputUrl);
    expect(video.headers.get('content-type')).to.equal('video/mp4');
    const jobs = await jobsOf(word);
    expect(jobs.map(({ ordered }) => ordered)).to.deep.equal([
      {
        endpoint: 'text2video',
        model: 'viduq3-turbo',
        duration: 3,
        resolution: '540p',
        aspectRatio: '1:1',
        audio: false,
        images: 0,
        offPeak: false,
      },
    ]);
  });

  const inputs: [fields: object, endpoint: string, credits: number][] = [
    [{ image_urls: [PNG_DATA_URI] }, 'img2video', 11],
    [{ image_urls: [PNG_DATA_URI, PNG_DATA_URI] }, 'start-end2video', 11],
    [{ reference_images: [PNG_DATA_URI] }, 'reference2video', 10],
    [{ image_urls: [PNG_DATA_URI, PNG_DATA_URI, PNG_DATA_URI] }, 'reference2video', 10],
    [{ model: 'viduq3', image_urls: [PNG_DATA_URI] }, 'reference2video', 12],
  ];
  for (const [fields, endpoint, credits] of inputs)
    it(`sends ${JSON.stringify(fields).slice(0, 40)}… to ${endpoint} at its own price`, async () => {
      const { id, word } = await order({ ...fields, duration: 1 });
      expect(await finish(id)).to.include({ status: 'completed', creditsCharged: credits });
      const [job] = await jobsOf(word);
      expect(job?.ordered).to.include({ endpoint, resolution: '720p', audio: true });
    });

  it('charges nothing for a failure and masks its words', async () => {
    for (const directives of ['outcome=fail', 'outcome=moderated', 'submit=400']) {
      const { id } = await order({ duration: 1 }, `seconds=0 text=leaky ${directives}`);
      const task = await finish(id);
      expectMaskedFailure(task, directives);
    }
  });

  it('is stopped at the vendor when its owner cancels it in time', async () => {
    const { id, word } = await order({ duration: 1 }, 'seconds=600');
    await until('it was handed over', async () => (await jobsOf(word)).length > 0);
    await untilStatus(owner.session, id, 'in_progress');
    await until('it was looked at', async () =>
      (await readJournal(gateway.sandboxUrl, word)).some(({ operation }) => operation === 'poll'),
    );
    await owner.session.delete(`/api/tasks/${id}`);
    expect(await untilFinal(owner.session, id)).to.include({ status: 'cancelled', creditsCharged: 0 });
    const [job] = await jobsOf(word);
    expect(job?.state).to.equal('cancelled');
  });

  const refusals: [fields: object, param: string, allowed: string][] = [
    [{ duration: 17 }, 'duration', '1 to 16'],
    [{ metadata: { resolution: '4k' } }, 'metadata.resolution', '540p, 720p, 1080p'],
    [{ model: 'viduq3-mix', resolution: '540p', image_urls: [PNG_DATA_URI] }, 'resolution', '720p, 1080p'],
    [{ size: '21:9' }, 'size', '16:9, 9:16, 3:4, 4:3, 1:1'],
    [{ model: 'viduq3' }, 'image_urls', '1 to 7 input images'],
    [{ model: 'viduq3-pro', reference_images: [PNG_DATA_URI] }, 'reference_images', 'no reference_images'],
  ];
  for (const [fields, param, allowed] of refusals)
    it(`refuses ${JSON.stringify(fields).slice(0, 60)} and names what is allowed`, () =>
      expectRefused(fields, param, allowed));
});

// Sora’s API through the public one: from the order to the result, its money, a lost answer, what may not be
// ordered.
import { expect } from 'chai';
import { encodePng } from '../../../../sandbox/png.ts';
import { startGateway, type TestGateway, type TestUser } from '../../../support/servers/gateway.ts';
import { PNG_DATA_URI } from '../../../support/inputs.ts';
import { countSubmissions } from '../../../support/servers/sandbox.ts';
import { expectMaskedFailure, videoOrders } from '../../../support/video-orders.ts';

const FRAME = encodePng({ width: 1024, height: 1792, hue: 30, transparent: false }).toString('base64');

describe('Sora on /v1/videos/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(10_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const { order, finish, orderedAs, expectRefused } = videoOrders(() => ({ gateway, owner }), 'sora-2');

  it('completes, charges by the second and serves the file, which only the key could fetch', async () => {
    const { id, word, creditsEstimate } = await order({ duration: 8, size: '9:16' });
    const task = await finish(id);
    expect(task).to.include({ status: 'completed', creditsCharged: 160, billingMode: 'per_second' });
    expect(creditsEstimate).to.equal(160);
    expect(task.upstreamTaskId).to.match(/^video_/);
    const video = await fetch(task.outputUrl);
    expect(video.headers.get('content-type')).to.equal('video/mp4');
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
    const ordered = { model: 'sora-2', seconds: '8', size: '720x1280', inputImages: 0 };
    expect(await orderedAs(word)).to.deep.equal([ordered]);
  });

  it('fills in what is left out, and never leaves it to the vendor', async () => {
    const { id, word } = await order({});
    expect(await finish(id)).to.include({ status: 'completed', creditsCharged: 80 });
    const ordered = { model: 'sora-2', seconds: '4', size: '1280x720', inputImages: 0 };
    expect(await orderedAs(word)).to.deep.equal([ordered]);
  });

  it('begins with a first frame, at the price of its resolution', async () => {
    const image_urls = [`data:image/png;base64,${FRAME}`];
    const fields = { model: 'sora-2-pro', duration: 4, size: '9:16', resolution: '1024p', image_urls };
    const { id, word } = await order(fields);
    expect(await finish(id)).to.include({ status: 'completed', creditsCharged: 400 });
    const ordered = { model: 'sora-2-pro', seconds: '4', size: '1024x1792', inputImages: 1 };
    expect(await orderedAs(word)).to.deep.equal([ordered]);
  });

  it('charges what the vendor says it delivered, and never more than the estimate', async () => {
    for (const [usage, charged] of [
      ['triple', 80],
      ['text', 80],
      ['missing', 80],
    ] as const) {
      const { id } = await order({}, `seconds=0 usage=${usage}`);
      expect(await finish(id), usage).to.include({ status: 'completed', creditsCharged: charged });
    }
  });

  it('finds its job when the answer to the order was lost, and orders no second one', async () => {
    const { id, word } = await order({}, 'seconds=0 submit=accept_then_reset');
    expect(await finish(id)).to.include({ status: 'completed', creditsCharged: 80 });
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
  });

  it('charges nothing for a failure and masks its words', async () => {
    for (const directives of ['outcome=fail', 'outcome=moderated', 'submit=400', 'result=404']) {
      const { id } = await order({}, `seconds=0 text=leaky ${directives}`);
      const task = await finish(id);
      expectMaskedFailure(task, directives);
    }
  });

  const refusals: [fields: object, param: string, allowed: string][] = [
    [{ duration: 5 }, 'duration', '4, 8, 12'],
    [{ resolution: '1080p' }, 'resolution', '720p'],
    [{ model: 'sora-2-pro', metadata: { resolution: '480p' } }, 'metadata.resolution', '720p, 1024p, 1080p'],
    [{ size: '1:1' }, 'size', '16:9, 9:16'],
    [{ metadata: { audio: false } }, 'metadata.audio', 'true'],
    [{ image_urls: [PNG_DATA_URI, PNG_DATA_URI] }, 'image_urls', 'at most 1 input images'],
    [{ reference_images: [PNG_DATA_URI] }, 'reference_images', 'no reference_images'],
  ];
  for (const [fields, param, allowed] of refusals)
    it(`refuses ${JSON.stringify(fields).slice(0, 60)} and names what is allowed`, () =>
      expectRefused(fields, param, allowed));
});

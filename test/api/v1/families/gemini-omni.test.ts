// Gemini Omni through the public API: order, result, money, and what may not be ordered.
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from '../../../support/servers/gateway.ts';
import { PNG_DATA_URI } from '../../../support/inputs.ts';
import { countSubmissions } from '../../../support/servers/sandbox.ts';
import { expectMaskedFailure, videoOrders } from '../../../support/video-orders.ts';

const MODEL = 'gemini-omni-1.1-flash';

describe('Gemini Omni on /v1/videos/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(20_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const { order, finish, orderedAs, expectRefused } = videoOrders(() => ({ gateway, owner }), MODEL);

  it('completes, and charges by the second that was ordered', async () => {
    const { id, word, creditsEstimate } = await order({ duration: 3, size: '9:16' });
    const task = await finish(id);
    expect(task).to.include({ status: 'completed', creditsCharged: 63, billingMode: 'per_second' });
    expect(creditsEstimate).to.equal(63);
    const video = await fetch(task.outputUrl);
    expect(video.headers.get('content-type')).to.equal('video/mp4');
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
    const [ordered] = await orderedAs(word);
    expect(ordered).to.deep.equal({
      model: MODEL,
      inputImages: 0,
      seconds: 3,
      resolution: '720p',
      aspectRatio: '9:16',
    });
  });

  it('takes a first frame or references, each at its price', async () => {
    const first = await order({ image_urls: [PNG_DATA_URI], duration: 4, resolution: '1080p' });
    expect(await finish(first.id)).to.include({ creditsCharged: 125 });
    const references = await order({ reference_images: [PNG_DATA_URI, PNG_DATA_URI], resolution: '360p' });
    expect(await finish(references.id)).to.include({ creditsCharged: 58 });
    expect((await orderedAs(references.word))[0]).to.include({ inputImages: 2, seconds: 8 });
  });

  it('charges nothing for a failure and masks its words', async () => {
    for (const directives of ['outcome=fail', 'outcome=moderated', 'submit=400']) {
      const { id } = await order({ duration: 4 }, `seconds=0 text=leaky ${directives}`);
      expectMaskedFailure(await finish(id), directives);
    }
  });

  it('never charges more than was estimated, whatever the vendor counts', async () => {
    const { id, creditsEstimate } = await order({ duration: 3 }, 'seconds=0 usage=triple');
    expect(await finish(id)).to.include({ creditsCharged: creditsEstimate });
  });

  it('refuses what the model does not have', async () => {
    await expectRefused({ duration: 11 }, 'duration', '10');
    await expectRefused({ resolution: '4k' }, 'resolution', '1080p');
    await expectRefused({ size: '1:1' }, 'size', '9:16');
  });
});

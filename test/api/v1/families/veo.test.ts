// Veo through the public API, on the Gemini API and on Vertex: order, result, money, and what may not be
// ordered.
import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { startSandbox, type Sandbox } from '../../../../sandbox/server.ts';
import { startGateway, type TestGateway, type TestUser } from '../../../support/servers/gateway.ts';
import { PNG_DATA_URI } from '../../../support/inputs.ts';
import { countSubmissions, readJobs, readJournal } from '../../../support/servers/sandbox.ts';
import { expectMaskedFailure, videoOrders } from '../../../support/video-orders.ts';

const MODEL = 'veo-3.1-fast';
const PROJECT = 'secret-project-7';

describe('Veo on /v1/videos/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(20_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const { order, finish, orderedAs, expectRefused } = videoOrders(() => ({ gateway, owner }), MODEL);

  it('completes, charges by the second and serves the file behind the redirect', async () => {
    const { id, word, creditsEstimate } = await order({ duration: 6, size: '9:16' });
    const task = await finish(id);
    expect(task).to.include({ status: 'completed', creditsCharged: 120, billingMode: 'per_second' });
    expect(creditsEstimate).to.equal(120);
    expect(task.upstreamTaskId).to.match(/^\w+$/);
    const video = await fetch(task.outputUrl);
    expect(video.headers.get('content-type')).to.equal('video/mp4');
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
    expect(await orderedAs(word)).to.deep.equal([
      {
        model: 'veo-3.1-fast-generate-001',
        durationSeconds: 6,
        resolution: '720p',
        aspectRatio: '9:16',
        generateAudio: true,
        inputImages: 0,
      },
    ]);
  });

  const inputs: [fields: object, images: number, credits: number][] = [
    [{ image_urls: [PNG_DATA_URI], duration: 4 }, 1, 80],
    [{ image_urls: [PNG_DATA_URI, PNG_DATA_URI], resolution: '4k' }, 2, 480],
    [{ reference_images: [PNG_DATA_URI, PNG_DATA_URI, PNG_DATA_URI] }, 3, 160],
    [{ model: 'veo-3.1-preview', resolution: '1080p' }, 0, 640],
    [{ model: 'veo-3.1-lite', duration: 4 }, 0, 40],
  ];
  for (const [fields, inputImages, credits] of inputs)
    it(`makes ${JSON.stringify(fields).slice(0, 50)}… for ${credits} credits`, async () => {
      const { id, word } = await order(fields);
      expect(await finish(id)).to.include({ status: 'completed', creditsCharged: credits });
      expect((await orderedAs(word))[0]).to.include({ inputImages });
    });

  it('charges nothing for a failure and masks its words', async () => {
    for (const directives of ['outcome=fail', 'outcome=moderated', 'submit=400', 'result=404']) {
      const { id } = await order({ duration: 4 }, `seconds=0 text=leaky ${directives}`);
      const task = await finish(id);
      expectMaskedFailure(task, directives);
    }
  });

  it('never orders again when the answer was lost, since nobody can tell what became of it', async () => {
    const { id, word } = await order({ duration: 4 }, 'seconds=0 submit=accept_then_reset');
    expect(await finish(id)).to.include({ status: 'failed', creditsCharged: 0 });
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
  });

  const refusals: [fields: object, param: string, allowed: string][] = [
    [{ duration: 5 }, 'duration', '4, 6, 8'],
    [{ duration: 6, resolution: '1080p' }, 'duration', 'must be 8'],
    [{ duration: 4, metadata: { resolution: '4k' } }, 'duration', 'must be 8'],
    [{ duration: 6, reference_images: [PNG_DATA_URI] }, 'duration', 'must be 8'],
    [{ model: 'veo-3.1-lite', resolution: '4k' }, 'resolution', '720p, 1080p'],
    [{ model: 'veo-3.1-lite', reference_images: [PNG_DATA_URI] }, 'reference_images', 'no reference_images'],
    [{ size: '1:1' }, 'size', '16:9, 9:16'],
    [{ metadata: { audio: false } }, 'metadata.audio', 'true'],
  ];
  for (const [fields, param, allowed] of refusals)
    it(`refuses ${JSON.stringify(fields).slice(0, 60)} and names what is allowed`, () =>
      expectRefused({ model: 'veo-3.1', ...fields }, param, allowed));
});

describe('Veo on Vertex, by a service account', () => {
  let sandbox: Sandbox;
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    sandbox = await startSandbox({ port: 0, host: '127.0.0.1' });
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const account = {
      type: 'service_account',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: `svc@${PROJECT}.iam.gserviceaccount.com`,
      token_uri: `${sandbox.url}/google/token`,
    };
    gateway = await startGateway({
      env: {
        VEO_BASE_URL: `${sandbox.url}/google/v1/projects/${PROJECT}/locations/us-central1`,
        VEO_API_KEY: JSON.stringify(account),
      },
    });
    owner = await gateway.createUser(10_000);
  });
  after(async () => {
    await gateway.stop();
    await sandbox.close();
  });
  afterEach(() => gateway.expectSoundMoney());

  const { order, finish } = videoOrders(() => ({ gateway, owner }), MODEL);

  it('copies the video from a second look at the operation, and shows its caller no project', async () => {
    const { id, word } = await order({ duration: 4 });
    const task = await finish(id);
    expect(task).to.include({ status: 'completed', creditsCharged: 80 });
    const video = await fetch(task.outputUrl);
    expect(video.headers.get('content-type')).to.equal('video/mp4');
    expect(JSON.stringify(task)).not.to.contain(PROJECT);
    const operations = (await readJournal(sandbox.url, word)).map(({ operation }) => operation);
    expect(operations.filter((operation) => operation === 'submit')).to.have.length(1);
    expect(operations.filter((operation) => operation === 'poll').length).to.be.at.least(2);
    expect(gateway.logged()).not.to.contain('PRIVATE KEY').and.not.to.contain('ya29.');
  });

  it('makes a silent video for less', async () => {
    const { id, word } = await order({ duration: 4, metadata: { audio: false } });
    expect(await finish(id)).to.include({ status: 'completed', creditsCharged: 64 });
    const [job] = await readJobs(sandbox.url, word);
    expect(job?.ordered).to.include({ generateAudio: false });
  });

  it('delivers nothing for half a video, and charges nothing', async () => {
    const { id } = await order({ duration: 4 }, 'seconds=0 result=truncated');
    expect(await finish(id)).to.include({ status: 'failed', creditsCharged: 0, outputUrl: null });
  });
});

// Frames and references of a video, each under its own name: what goes together, and who is named when not.
import { expect } from 'chai';
import { expectError } from '../../support/http/expect-error.ts';
import { FRAME_DATA_URI, PNG_DATA_URI } from '../../support/inputs.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { readJobs } from '../../support/servers/sandbox.ts';
import { uniqueWord } from '../../support/tasks.ts';
import { untilFinal } from '../../support/until.ts';

const PATH = '/v1/videos/generations';
const LINK = 'https://media.example.com/1.png';

describe('frames and references on /v1/videos/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(10_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const taken: [fields: object, images: number][] = [
    [{ metadata: { last_frame: LINK } }, 1],
    [{ metadata: { first_frame: LINK, last_frame: LINK } }, 2],
    [{ metadata: { first_frame: LINK }, reference_images: [LINK, LINK] }, 3],
  ];
  for (const [fields, images] of taken)
    it(`takes ${images} images of Grok 1.5 as ${JSON.stringify(fields).replaceAll(LINK, '…')}`, async () => {
      const word = uniqueWord();
      const prompt = `a fox ${word} [[sandbox seconds=0]]`;
      const order = { model: 'grok-imagine-video-1.5', prompt, duration: 1, ...fields };
      const { status, body } = await owner.key.post(PATH, order);
      expect(status, JSON.stringify(body)).to.equal(202);
      const task = await untilFinal(owner.session, body.data.id);
      expect(task).to.include({ status: 'completed', creditsCharged: 28 + 2 * images });
      const [job] = await readJobs(gateway.sandboxUrl, word);
      expect(job?.ordered).to.include({ inputImages: images });
    });

  const frame = { first_frame: FRAME_DATA_URI };
  const refused: [model: string, fields: object, status: number, code: string, param: string][] = [
    ['seedance-2.0', { metadata: { last_frame: LINK } }, 400, 'missing_field', 'metadata.first_frame'],
    [
      'seedance-2.0',
      { metadata: frame, reference_images: [LINK] },
      400,
      'conflicting_params',
      'metadata.first_frame',
    ],
    [
      'grok-imagine-video-1.5',
      { metadata: { last_frame: LINK }, reference_images: [LINK] },
      400,
      'conflicting_params',
      'metadata.last_frame',
    ],
    [
      'grok-imagine-video-1.5',
      { metadata: { first_frame: LINK }, image_urls: [LINK] },
      400,
      'conflicting_params',
      'metadata.first_frame',
    ],
    ['kling-3.0', { image_urls: [LINK, PNG_DATA_URI] }, 400, 'invalid_image', 'image_urls[1]'],
    [
      'kling-3.0-omni',
      { metadata: frame, reference_images: [LINK, PNG_DATA_URI] },
      400,
      'invalid_image',
      'reference_images[1]',
    ],
    [
      'kling-3.0-omni',
      { metadata: { first_frame: PNG_DATA_URI }, reference_images: [LINK] },
      400,
      'invalid_image',
      'metadata.first_frame',
    ],
  ];
  for (const [model, fields, status, code, param] of refused)
    it(`answers ${code} for ${param} of ${model}`, async () => {
      const answer = await owner.key.post(PATH, { model, prompt: 'a fox', ...fields });
      expectError(answer, status, code, param);
      if (code === 'invalid_image') expect(answer.body.error.message).to.match(/1 × 1 pixels.* at least 300/);
    });
});

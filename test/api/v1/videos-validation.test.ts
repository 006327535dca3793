// POST /v1/videos/generations refuses invalid orders, before they have any effect.
import { expect } from 'chai';
import { expectNoEffect } from '../../support/http/effects.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { PNG_DATA_URI } from '../../support/inputs.ts';

const PATH = '/v1/videos/generations';
const MODEL = 'grok-imagine-video';

describe('the validation of POST /v1/videos/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(10_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const create = (fields: object) => owner.key.post(PATH, { model: MODEL, ...fields });

  const refusals: [title: string, fields: object, status: number, code: string, param: string][] = [
    ['no model', { model: undefined, prompt: 'a' }, 400, 'missing_field', 'model'],
    ['no prompt', {}, 400, 'missing_field', 'prompt'],
    ['an unknown model', { model: 'sora-9', prompt: 'a' }, 404, 'model_not_found', 'model'],
    ['the image model', { model: 'gpt-image-2', prompt: 'a' }, 400, 'model_not_supported', 'model'],
    ['a blank prompt', { prompt: ' ' }, 400, 'invalid_value', 'prompt'],
    ['a prompt too long for the model', { prompt: 'a'.repeat(4097) }, 400, 'prompt_too_long', 'prompt'],
    [
      'two ratios',
      { prompt: 'a', size: '16:9', aspect_ratio: '9:16' },
      400,
      'conflicting_params',
      'aspect_ratio',
    ],
    [
      'two resolutions',
      { prompt: 'a', resolution: '480p', metadata: { resolution: '720p' } },
      400,
      'conflicting_params',
      'metadata.resolution',
    ],
    ['a ratio that is not offered, as size', { prompt: 'a', size: '2:1' }, 400, 'invalid_value', 'size'],
    [
      'a ratio that is not offered',
      { prompt: 'a', aspect_ratio: '2:1' },
      400,
      'invalid_value',
      'aspect_ratio',
    ],
    [
      'a resolution that is not offered',
      { prompt: 'a', metadata: { resolution: '1080p' } },
      400,
      'invalid_value',
      'metadata.resolution',
    ],
    [
      'a resolution that is a number',
      { prompt: 'a', metadata: { resolution: 480 } },
      400,
      'invalid_value',
      'metadata.resolution',
    ],
    ['metadata that is a text', { prompt: 'a', metadata: '480p' }, 400, 'invalid_value', 'metadata'],
    ['metadata that is a list', { prompt: 'a', metadata: [] }, 400, 'invalid_value', 'metadata'],
    [
      'audio that is a text',
      { prompt: 'a', metadata: { audio: 'yes' } },
      400,
      'invalid_value',
      'metadata.audio',
    ],
    ['0 seconds', { prompt: 'a', duration: 0 }, 400, 'invalid_value', 'duration'],
    ['−1 seconds', { prompt: 'a', duration: -1 }, 400, 'invalid_value', 'duration'],
    ['16 seconds', { prompt: 'a', duration: 16 }, 400, 'invalid_value', 'duration'],
    ['half a second', { prompt: 'a', duration: 1.5 }, 400, 'invalid_value', 'duration'],
    ['seconds as text', { prompt: 'a', duration: '5' }, 400, 'invalid_value', 'duration'],
    [
      'eight input images',
      { prompt: 'a', image_urls: Array.from({ length: 8 }, () => PNG_DATA_URI) },
      400,
      'invalid_value',
      'image_urls',
    ],
    [
      'an input from inside',
      { prompt: 'a', image_urls: ['https://10.0.0.1/a.png'] },
      400,
      'url_not_allowed',
      'image_urls[0]',
    ],
  ];
  for (const [title, fields, status, code, param] of refusals) {
    it(`refuses ${title}: ${status} ${code}`, async () => {
      const answer = await expectNoEffect(gateway, () => create(fields));
      expectError(answer, status, code, param);
    });
  }

  it('names the values that are allowed', async () => {
    const message = async (fields: object) => (await create({ prompt: 'a', ...fields })).body.error.message;
    expect(await message({ metadata: { resolution: '8K' } })).to.contain('480p, 720p');
    expect(await message({ duration: 99 })).to.contain('1 to 15');
    expect(await message({ size: '1:9' })).to.contain('16:9');
  });

  it('refuses with 402 what the balance does not cover, and writes nothing', async () => {
    const poor = await gateway.createUser(9);
    const order = { model: MODEL, prompt: 'a fox', duration: 1, metadata: { resolution: '480p' } };
    const answer = await expectNoEffect(gateway, () => poor.key.post(PATH, order));
    expectError(answer, 402, 'insufficient_credits', null);
    expect(answer.body.error).to.include({ required: 10, available: 9 });
  });
});

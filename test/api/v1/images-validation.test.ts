// POST /v1/images/generations refuses invalid orders, before they have any effect.
import { expect } from 'chai';
import { expectNoEffect } from '../../support/http/effects.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { PNG_BASE64, PNG_DATA_URI } from '../../support/inputs.ts';

const PATH = '/v1/images/generations';
const MODEL = 'gpt-image-2';

describe('the validation of POST /v1/images/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(5000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const create = (fields: object) => owner.key.post(PATH, { model: MODEL, ...fields });

  const long = 'x'.repeat(32_001);
  const url = 'https://images.example.com/cat.png';
  const refusals: [title: string, fields: object, status: number, code: string, param: string][] = [
    ['no prompt', {}, 400, 'missing_field', 'prompt'],
    ['an empty prompt', { prompt: '' }, 400, 'invalid_value', 'prompt'],
    ['a blank prompt', { prompt: ' \n ' }, 400, 'invalid_value', 'prompt'],
    ['a prompt that is a number', { prompt: 5 }, 400, 'invalid_value', 'prompt'],
    ['a prompt of 32,001 characters', { prompt: long }, 400, 'prompt_too_long', 'prompt'],
    ['no model', { model: undefined, prompt: 'a' }, 400, 'missing_field', 'model'],
    ['an unknown model', { model: 'dall-e-9', prompt: 'a' }, 404, 'model_not_found', 'model'],
    [
      'a model named like a member of every object',
      { model: '__proto__', prompt: 'a' },
      404,
      'model_not_found',
      'model',
    ],
    ['a video model', { model: 'grok-imagine-video', prompt: 'a' }, 400, 'model_not_supported', 'model'],
    ['size 10:1', { prompt: 'a', size: '10:1' }, 400, 'invalid_value', 'size'],
    ['size 1024x1024', { prompt: 'a', size: '1024x1024' }, 400, 'invalid_value', 'size'],
    ['size with spaces', { prompt: 'a', size: '16 : 9' }, 400, 'invalid_value', 'size'],
    ['resolution 8K', { prompt: 'a', resolution: '8K' }, 400, 'invalid_value', 'resolution'],
    ['resolution 1k', { prompt: 'a', resolution: '1k' }, 400, 'invalid_value', 'resolution'],
    ['n = 0', { prompt: 'a', n: 0 }, 400, 'invalid_value', 'n'],
    ['n = −1', { prompt: 'a', n: -1 }, 400, 'invalid_value', 'n'],
    ['n = 1.5', { prompt: 'a', n: 1.5 }, 400, 'invalid_value', 'n'],
    ['n = "2"', { prompt: 'a', n: '2' }, 400, 'invalid_value', 'n'],
    ['n = 11', { prompt: 'a', n: 11 }, 400, 'invalid_value', 'n'],
    ['n = 1e21', { prompt: 'a', n: 1e21 }, 400, 'invalid_value', 'n'],
    ['n = 9007199254740993', { prompt: 'a', n: 9007199254740992 }, 400, 'invalid_value', 'n'],
    ['response_format xml', { prompt: 'a', response_format: 'xml' }, 400, 'invalid_value', 'response_format'],
    ['image_urls that is a text', { prompt: 'a', image_urls: 'x' }, 400, 'invalid_value', 'image_urls'],
    ['image_urls with a number', { prompt: 'a', image_urls: [1] }, 400, 'invalid_value', 'image_urls[0]'],
    [
      'image_urls with an empty text',
      { prompt: 'a', image_urls: [''] },
      400,
      'invalid_value',
      'image_urls[0]',
    ],
    [
      'image_urls with a word',
      { prompt: 'a', image_urls: [url, 'x'] },
      400,
      'invalid_value',
      'image_urls[1]',
    ],
    ['17 images', { prompt: 'a', image_urls: Array(17).fill(url) }, 400, 'invalid_value', 'image_urls'],
    [
      '100 reference images',
      { prompt: 'a', reference_images: Array(100).fill(url) },
      400,
      'invalid_value',
      'reference_images',
    ],
    [
      'different images under two names',
      { prompt: 'a', image_urls: [url], reference_images: [PNG_DATA_URI] },
      400,
      'conflicting_params',
      'reference_images',
    ],
    ...[
      'http://images.example.com/cat.png',
      'https://127.0.0.1/cat.png',
      'https://2130706433/cat.png',
      'https://0x7f.1/cat.png',
      'https://[::1]/cat.png',
      'https://[::ffff:169.254.169.254]/latest',
      'https://localhost/cat.png',
      'https://metadata.google.internal/cat.png',
      'https://me:secret@images.example.com/cat.png',
      'ftp://images.example.com/cat.png',
      'file:///etc/passwd',
    ].map((address): [string, object, number, string, string] => {
      return [
        `the URL ${address}`,
        { prompt: 'a', image_urls: [address] },
        400,
        'url_not_allowed',
        'image_urls[0]',
      ];
    }),
    ...[
      `data:image/gif;base64,R0lGODlhAQABAAAAACw=`,
      `data:text/html;base64,${PNG_BASE64}`,
      `data:image/png,${PNG_BASE64}`,
      `data:image/jpeg;base64,${PNG_BASE64}`,
      'data:image/png;base64,',
      'data:image/png;base64,PHN2Zz48L3N2Zz4=',
      'data:,x',
    ].map((uri): [string, object, number, string, string] => {
      return [
        `the data URI ${uri.slice(0, 40)}`,
        { prompt: 'a', image_urls: [uri] },
        400,
        'invalid_image',
        'image_urls[0]',
      ];
    }),
  ];
  for (const [title, fields, status, code, param] of refusals) {
    it(`refuses ${title}: ${status} ${code}`, async () => {
      const answer = await expectNoEffect(gateway, () => create(fields));
      expectError(answer, status, code, param);
    });
  }

  it('refuses an image of more than 20 MiB', async () => {
    const bytes = Buffer.concat([Buffer.from(PNG_BASE64, 'base64'), Buffer.alloc(20 * 1024 * 1024)]);
    const image_urls = [`data:image/png;base64,${bytes.toString('base64')}`];
    expectError(await create({ prompt: 'a', image_urls }), 400, 'invalid_image', 'image_urls[0]');
  });

  it('names what is allowed', async () => {
    const { body } = await create({ prompt: 'a', size: '10:1' });
    expect(body.error.message).to.contain('21:9');
  });

  it('refuses with 402 what the balance does not cover, and writes nothing', async () => {
    const poor = await gateway.createUser(3.999999);
    const answer = await expectNoEffect(gateway, () =>
      poor.key.post(PATH, { model: MODEL, prompt: 'a cat' }),
    );
    expectError(answer, 402, 'insufficient_credits', null);
    expect(answer.body.error).to.include({ type: 'billing_error', required: 4, available: 3.999999 });
  });
});

// POST /v1/images/generations, as an API caller meets it.
import { expect } from 'chai';
import { expectNoEffect } from '../../support/http/effects.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { PNG_BASE64, PNG_DATA_URI } from '../../support/inputs.ts';
import { countSubmissions } from '../../support/servers/sandbox.ts';
import { until } from '../../support/until.ts';

const PATH = '/v1/images/generations';
const MODEL = 'gpt-image-2';
const QUICK = '[[sandbox seconds=0]]';

describe('POST /v1/images/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(5000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const create = (fields: object) => owner.key.post(PATH, { model: MODEL, ...fields });
  const read = (id: string) => owner.key.get(`/v1/images/tasks/${id}`);
  const finished = (id: string) =>
    until(`image task ${id} has ended`, async () => {
      const answer = await read(id);
      return ['completed', 'failed'].includes(answer.body.status) && answer.body;
    });
  const balance = async () => (await owner.key.get('/v1/balance')).body.data;

  it('answers 202 with a queued task, its estimate and nothing else', async () => {
    const { status, body, headers } = await create({ prompt: `a cat ${QUICK}` });
    expect(status).to.equal(202);
    expect(body).to.include({ object: 'generation.task', model: MODEL, status: 'queued', progress: 0 });
    expect(body).to.have.all.keys(
      ...['id', 'object', 'model', 'status', 'progress', 'creditsEstimate', 'created_at'],
    );
    expect(body.creditsEstimate).to.equal(4);
    expect(body.id).to.match(/^task_[0-9A-Z]{26}$/);
    expect(body.created_at)
      .to.be.closeTo(Date.now() / 1000, 60)
      .and.to.satisfy(Number.isInteger);
    expect(headers.get('location')).to.equal(`/v1/images/tasks/${body.id}`);
    expect(headers.get('retry-after')).to.equal('2');
    await finished(body.id);
  });

  it('completes, charges the estimate once and links to the images', async () => {
    const before = await balance();
    const { body } = await create({ prompt: `two cats ${QUICK}`, n: 2, resolution: '2K', size: '16:9' });
    const task = await finished(body.id);
    expect(task).to.include({
      status: 'completed',
      progress: 100,
      creditsEstimate: 20,
      creditsCharged: 20,
    });
    expect(task.result.data).to.have.length(2);
    expect(task.outputUrl).to.equal(task.result.data[0].url);
    const image = await fetch(task.outputUrl);
    expect(image.headers.get('content-type')).to.equal('image/png');
    expect(
      Buffer.from(await image.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).to.equal('PNG');
    const after = await balance();
    expect(before.balance - after.balance).to.equal(20);
    expect(after.reserved).to.equal(0);
    expect(await countSubmissions(gateway.sandboxUrl, 'two cats')).to.equal(1);
  });

  it('sets 4, 10 and 18 credits aside for 1K, 2K and 4K, times n, until the task ends', async () => {
    const estimates: [resolution: string, n: number, credits: number][] = [
      ['1K', 1, 4],
      ['2K', 1, 10],
      ['4K', 1, 18],
      ['1K', 4, 16],
      ['2K', 4, 40],
      ['4K', 4, 72],
    ];
    const check = async ([resolution, n, credits]: (typeof estimates)[number]): Promise<void> => {
      const user = await gateway.createUser(100);
      const reserved = async () => (await user.key.get('/v1/balance')).body.data.reserved;
      const fields = { model: MODEL, prompt: '[[sandbox outcome=stuck]]', resolution, n };
      const { body } = await user.key.post(PATH, fields);
      expect(body.creditsEstimate, resolution).to.equal(credits);
      expect(await reserved(), resolution).to.equal(credits);
      expect((await user.session.delete(`/api/tasks/${body.id}`)).status).to.equal(200);
      expect(await reserved(), resolution).to.equal(0);
    };
    await Promise.all(estimates.map(check));
  });

  it('takes every size of the list', async () => {
    const sizes = '1:1 3:2 2:3 4:3 3:4 5:4 4:5 16:9 9:16 2:1 1:2 21:9 9:21'.split(' ');
    const answers = await Promise.all(
      sizes.map((size) =>
        owner.key.post('/v1/estimates', { mode: 'image', model: MODEL, prompt: 'a', size }),
      ),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(sizes.map(() => 200));
  });

  it('counts code points, not UTF-16 units: 32,000 emoji are not too long', async () => {
    const { status, body } = await create({ prompt: QUICK + '🐱'.repeat(32_000 - QUICK.length) });
    expect(status).to.equal(202);
    await finished(body.id);
  });

  it('judges the last of two equal fields', async () => {
    const send = (text: string) =>
      owner.key.send('POST', '/v1/estimates', {
        body: `{"mode":"image","model":"${MODEL}","prompt":"a",${text}}`,
        headers: { 'content-type': 'application/json' },
      });
    expectError(await send('"n":1,"n":100'), 400, 'invalid_value', 'n');
    expect((await send('"n":1,"n":2')).body.data.creditsEstimate).to.equal(8);
  });

  it('ignores fields it does not know', async () => {
    const { status, body } = await create({ prompt: `quality ${QUICK}`, quality: 'high', user: 'u-1' });
    expect(status).to.equal(202);
    expect(await finished(body.id)).to.include({ status: 'completed' });
  });

  it('takes an image as data URI under either name, and under both if they agree', async () => {
    const images = [PNG_DATA_URI];
    const bodies = [
      { image_urls: images },
      { reference_images: images },
      { image_urls: images, reference_images: images },
    ];
    for (const fields of bodies) {
      const { status, body } = await create({ prompt: `edit ${QUICK}`, ...fields });
      expect(status).to.equal(202);
      expect(await finished(body.id)).to.include({ status: 'completed', creditsCharged: 4 });
    }
  });

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

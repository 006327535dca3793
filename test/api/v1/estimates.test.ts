// POST /v1/estimates: what a task would cost, and that asking costs nothing.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { expectNoEffect } from '../../support/http/effects.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { CHAT_MODEL } from '../../support/chat.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { PNG_DATA_URI } from '../../support/inputs.ts';

const PATH = '/v1/estimates';
const IMAGE = { mode: 'image', model: 'gpt-image-2', prompt: 'a cat' };
const VIDEO = { mode: 'video', model: 'grok-imagine-video', prompt: 'a fox' };

describe('POST /v1/estimates', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(0);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  type Line = [item: string, quantity: number, credits: number];
  const estimates: [title: string, body: object, credits: number, billingMode: string, lines: Line[]][] = [
    ['an image', IMAGE, 4, 'per_image', [['1K image', 1, 4]]],
    ['three 4K images', { ...IMAGE, n: 3, resolution: '4K' }, 54, 'per_image', [['4K image', 3, 54]]],
    ['a video', VIDEO, 112, 'per_second', [['720p video', 8, 112]]],
    [
      'a video of one second',
      { ...VIDEO, duration: 1, metadata: { resolution: '480p' } },
      10,
      'per_second',
      [['480p video', 1, 10]],
    ],
    [
      'a video from an image',
      { ...VIDEO, duration: 2, image_urls: [PNG_DATA_URI] },
      28.4,
      'per_second',
      [
        ['720p video', 2, 28],
        ['input image', 1, 0.4],
      ],
    ],
  ];
  for (const [title, body, creditsEstimate, billingMode, lines] of estimates) {
    it(`answers ${creditsEstimate} credits for ${title}, to somebody without any credits too`, async () => {
      const answer = await expectNoEffect(gateway, () => owner.key.post(PATH, body));
      expect(answer.status).to.equal(200);
      const breakdown = lines.map(([item, quantity, credits]) => ({ item, quantity, credits }));
      expect(answer.body).to.deep.equal({ data: { creditsEstimate, billingMode, breakdown } });
    });
  }

  const refusals: [title: string, body: object, status: number, code: string, param: string][] = [
    ['no mode', { ...IMAGE, mode: undefined }, 400, 'missing_field', 'mode'],
    ['an unknown mode', { ...IMAGE, mode: 'sound' }, 400, 'invalid_value', 'mode'],
    ['a mode the model is not for', { ...IMAGE, mode: 'video' }, 400, 'model_not_supported', 'model'],
    ['an unknown model', { ...IMAGE, model: 'x' }, 404, 'model_not_found', 'model'],
    ['no prompt', { ...IMAGE, prompt: undefined }, 400, 'missing_field', 'prompt'],
    ['what creation would refuse', { ...VIDEO, duration: 99 }, 400, 'invalid_value', 'duration'],
    [
      'an input from inside',
      { ...IMAGE, image_urls: ['https://10.0.0.1/'] },
      400,
      'url_not_allowed',
      'image_urls[0]',
    ],
  ];
  for (const [title, body, status, code, param] of refusals) {
    it(`refuses ${title}: ${status} ${code}`, async () => {
      expectError(await expectNoEffect(gateway, () => owner.key.post(PATH, body)), status, code, param);
    });
  }

  it('counts what a tool call holds as text, also in a member that is named as a picture is', async () => {
    const url = `data:${'words '.repeat(20_000)}`;
    const estimate = async (name: string): Promise<number> => {
      const tool_calls = [{ id: 'a', type: 'function', [name]: { url, detail: 'low' } }];
      const messages = [{ role: 'assistant', content: null, tool_calls }];
      const body = { mode: 'text', model: CHAT_MODEL, max_tokens: 5, messages };
      return (await owner.key.post(PATH, body)).body.data.creditsEstimate;
    };
    expect(await estimate('image_url')).to.be.at.least(await estimate('function'));
  });

  it('ignores fields it does not know', async () => {
    expect((await owner.key.post(PATH, { ...IMAGE, style: 'vivid' })).status).to.equal(200);
  });

  it('refuses a model outside the key’s scope with 403, as creation does', async () => {
    const scoped = await gateway.createUser();
    await gateway
      .em()
      .execute(sql`update api_key set model_scope = '{grok-imagine-video}' where id = ${scoped.keyId}`);
    expectError(await scoped.key.post(PATH, IMAGE), 403, 'model_not_allowed', 'model');
    expect((await scoped.key.post(PATH, VIDEO)).status).to.equal(200);
    const creation = await expectNoEffect(gateway, () => scoped.key.post('/v1/images/generations', IMAGE));
    expectError(creation, 403, 'model_not_allowed', 'model');
  });
});

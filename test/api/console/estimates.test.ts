// POST /api/estimates: as on /v1, for the session, and strict about fields.
import { expect } from 'chai';
import { expectNoEffect } from '../../support/http/effects.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

const IMAGE = { mode: 'image', model: 'gpt-image-2', prompt: 'a cat' };
const VIDEO = { mode: 'video', model: 'grok-imagine-video', prompt: 'a fox' };

describe('POST /api/estimates', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(0);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const estimate = (body: object) => owner.session.post('/api/estimates', body);

  for (const body of [IMAGE, VIDEO, { ...IMAGE, n: 3, resolution: '2K' }])
    it(`answers what the key answers for ${JSON.stringify(body)}`, async () => {
      const answer = await expectNoEffect(gateway, () => estimate(body));
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal((await owner.key.post('/v1/estimates', body)).body);
    });

  const refusals: [title: string, body: object, status: number, code: string, param: string][] = [
    ['no mode', { ...IMAGE, mode: undefined }, 400, 'missing_field', 'mode'],
    ['an unknown mode', { ...IMAGE, mode: 'sound' }, 400, 'invalid_value', 'mode'],
    ['an unknown field', { ...IMAGE, style: 'vivid' }, 400, 'invalid_request', 'style'],
    ['a field of another mode', { ...IMAGE, duration: 5 }, 400, 'invalid_request', 'duration'],
    [
      'an image model for text',
      { mode: 'text', model: 'gpt-image-2', prompt: 'a' },
      400,
      'model_not_supported',
      'model',
    ],
    ['an unknown model', { ...IMAGE, model: 'x' }, 404, 'model_not_found', 'model'],
  ];
  for (const [title, body, status, code, param] of refusals)
    it(`refuses ${title}: ${status} ${code}`, async () => {
      expectError(await expectNoEffect(gateway, () => estimate(body)), status, code, param);
    });

  it('refuses an option that the model does not have, and names those it has', async () => {
    const answer = await estimate({ ...VIDEO, metadata: { camera: 'pan' } });
    expectError(answer, 400, 'invalid_value', 'metadata.camera');
    expect(answer.body.error.message).to.contain('resolution, audio');
  });
});

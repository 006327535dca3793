// GET /v1/models and GET /v1/models/:id: what a key may use, and at which price.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

describe('GET /v1/models', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(0);
  });
  after(() => gateway.stop());

  it('lists every model of the catalogue in OpenAI’s shape', async () => {
    const { status, body } = await owner.key.get('/v1/models');
    expect(status).to.equal(200);
    expect(body).to.have.all.keys('object', 'data');
    expect(body.object).to.equal('list');
    const ids = body.data.map(({ id }: { id: string }) => id);
    expect(ids)
      .to.have.members([...gateway.config.catalog.models.keys()])
      .and.to.include('gpt-image-2');
    for (const model of body.data) {
      expect(model).to.have.all.keys(
        ...['id', 'object', 'created', 'owned_by', 'kind', 'family', 'billing_mode', 'limits', 'defaults'],
        ...['price', 'usual_seconds'],
      );
      expect(model.object).to.equal('model');
      expect(model.created).to.satisfy(Number.isInteger);
      expect(model.price).to.be.an('array').that.is.not.empty;
      for (const line of model.price)
        expect(line).to.have.all.keys('item', 'unit', 'credits', 'free', 'when');
    }
  });

  it('shows one model with its limits and prices', async () => {
    const { status, body } = await owner.key.get('/v1/models/grok-imagine-video');
    expect(status).to.equal(200);
    expect(body).to.deep.include({ kind: 'video', family: 'grok', billing_mode: 'per_second' });
    expect(body.limits).to.deep.include({
      durations: { min: 1, max: 15 },
      resolutions: ['480p', '720p'],
      inputImagesMax: 7,
      promptCharactersMax: 4096,
    });
    expect(body.limits.ratios).to.include('16:9');
    const line = { item: '480p video', unit: 'second', credits: 10, free: 0 };
    expect(body.price).to.deep.include({ ...line, when: { resolution: '480p' } });
    expect(body.defaults).to.include({ duration: 8, resolution: '720p' });
    const { body: list } = await owner.key.get('/v1/models');
    expect(list.data).to.deep.include(body);
  });

  it('takes a slash at the end, as every route does', async () => {
    for (const path of ['/v1/models/', '/v1/models/gpt-image-2/'])
      expect((await owner.key.get(path)).status, path).to.equal(200);
    expectError(await owner.key.get('/v1/models/gpt-image-2//'), 404, 'model_not_found', 'model');
  });

  it('shows a text model with its limits in tokens, and its prices for a million of them', async () => {
    const { body } = await owner.key.get('/v1/models/gpt-6-luna');
    expect(body).to.include({ kind: 'text', family: 'openai', billing_mode: 'per_token' });
    expect(body.limits).to.include({ contextTokens: 1_050_000, outputTokensMax: 128_000 });
    const price = (item: string, credits: number, when: object = { promptTokensMax: 272_000 }) => ({
      ...{ item, unit: 'million tokens', credits, free: 0, when },
    });
    for (const line of [
      price('input tokens', 20),
      price('cached input tokens', 2),
      price('output tokens', 100),
    ])
      expect(body.price).to.deep.include(line);
    expect(body.price).to.deep.include(
      price('output tokens after a long prompt', 150, { promptTokensAbove: 272_000 }),
    );
  });

  it('tells nothing of how a vendor is reached', async () => {
    const { body } = await owner.key.get('/v1/models');
    expect(JSON.stringify(body)).not.to.match(/adapter|upstream|http/i);
  });

  for (const id of ['x', '__proto__', 'GPT-IMAGE-2', 'a%2Fb', '%00'])
    it(`does not know the model ${id}`, async () => {
      expectError(await owner.key.get(`/v1/models/${id}`), 404, 'model_not_found');
    });

  it('shows a key only the models of its scope; others do not exist for it', async () => {
    const scoped = await gateway.createUser(0);
    await gateway
      .em()
      .execute(sql`update api_key set model_scope = '{gpt-image-2}' where id = ${scoped.keyId}`);
    const { body } = await scoped.key.get('/v1/models');
    expect(body.data.map(({ id }: { id: string }) => id)).to.deep.equal(['gpt-image-2']);
    expect((await scoped.key.get('/v1/models/gpt-image-2')).status).to.equal(200);
    expectError(await scoped.key.get('/v1/models/grok-imagine-video'), 404, 'model_not_found');
  });
});

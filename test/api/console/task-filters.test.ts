// What lists of tasks are filtered by, and what a task says of its price, its key and its pictures.
import { expect } from 'chai';
import sharp from 'sharp';
import { createAdministrator } from '../../support/administrators.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { untilFinal } from '../../support/until.ts';

type Listed = { id: string; createdAt: string };

describe('lists of tasks', () => {
  let gateway: TestGateway;
  let user: TestUser;
  let chief: TestUser;
  let image: string;
  let video: string;
  let failed: string;

  before(async () => {
    gateway = await startGateway();
    user = await gateway.createUser(1000);
    chief = await createAdministrator(gateway);
    const quick = (directive = '') => `x [[sandbox seconds=0 ${directive}]]`;
    const order = { model: 'gpt-image-2', prompt: quick(), n: 2 };
    image = (await user.key.post('/v1/images/generations', order, { prefer: 'wait=60' })).body.id;
    const made = { mode: 'video', model: 'grok-imagine-video', duration: 1 };
    video = (await user.session.post('/api/tasks', { ...made, prompt: quick() })).body.data.id;
    await untilFinal(user.session, video);
    failed = (await user.session.post('/api/tasks', { ...made, prompt: quick('outcome=moderated') })).body
      .data.id;
    await untilFinal(user.session, failed);
  });
  after(() => gateway.stop());

  const idsOf = (data: Listed[]) => data.map(({ id }) => id);

  for (const [who, path] of [
    ['the owner', '/api/tasks'],
    ['an administrator', '/api/admin/tasks'],
  ] as const)
    describe(`of ${who}`, () => {
      const list = async (query: string) => {
        const actor = who === 'the owner' ? user.session : chief.session;
        return idsOf((await actor.get(`${path}?${query}`)).body.data);
      };

      it('are filtered by model, key, error and both', async () => {
        expect(await list('model=gpt-image-2')).to.deep.equal([image]);
        expect(await list(`keyId=${user.keyId}`)).to.deep.equal([image]);
        expect(await list('errorCode=content_rejected')).to.deep.equal([failed]);
        expect(await list('model=grok-imagine-video&status=completed')).to.deep.equal([video]);
        expect(await list(`model=gpt-image-2&errorCode=content_rejected`)).to.deep.equal([]);
        expect(await list('keyId=key_x')).to.deep.equal([]);
      });

      it('are filtered by the time of creation, with offsets, across pages', async () => {
        const { createdAt } = (await user.session.get(`/api/tasks/${video}`)).body.data;
        const at = encodeURIComponent(new Date(Date.parse(createdAt) - 100).toISOString());
        expect(await list(`from=${at}`)).to.deep.equal([failed, video]);
        expect(await list(`to=${at}`)).to.deep.equal([image]);
        expect(await list(`from=${at}&cursor=${failed}`)).to.deep.equal([video]);
        const exactly = encodeURIComponent(createdAt);
        expect(await list(`from=${exactly}`), 'from its own time').to.deep.equal([failed, video]);
        expect(await list(`to=${exactly}`), 'before its own time').to.deep.equal([image]);
        expect(await list(`from=2020-01-01T00:00:00%2B02:00&to=2021-01-01T00:00:00Z`)).to.deep.equal([]);
        const actor = who === 'the owner' ? user.session : chief.session;
        for (const wrong of ['from=yesterday', 'to=2020-01-01', 'from=2020-02-31T00:00:00Z'])
          expect((await actor.get(`${path}?${wrong}`)).status, wrong).to.equal(400);
      });
    });

  it('say which key ordered a task, and what its credits are for', async () => {
    const { data } = (await user.session.get(`/api/tasks/${image}`)).body;
    expect([data.keyId, data.billingMode, data.creditsCharged]).to.deep.equal([user.keyId, 'per_image', 8]);
    const lines = [{ item: '1K image', quantity: 2, credits: 8 }];
    expect(data.breakdown).to.deep.equal({ ordered: lines, charged: lines });
    const gone = (await user.session.get(`/api/tasks/${failed}`)).body.data;
    expect(gone.breakdown.charged).to.deep.equal([]);
  });

  it('have links that stay the same, and small previews of images', async () => {
    const read = async () => (await user.session.get(`/api/tasks/${image}`)).body.data;
    const [first, second] = [await read(), await read()];
    expect(first.outputUrl).to.equal(second.outputUrl);
    const [{ previewUrl }] = first.outputs;
    const response = await fetch(previewUrl);
    expect([response.status, response.headers.get('content-type')]).to.deep.equal([200, 'image/webp']);
    const { width, height } = await sharp(await response.arrayBuffer()).metadata();
    expect(Math.max(width, height)).to.be.within(1, 512);
    const part = await fetch(first.outputUrl, { headers: { range: 'bytes=0-9' } });
    expect([part.status, (await part.arrayBuffer()).byteLength]).to.deep.equal([206, 10]);
  });

  it('of administrators lead to single tasks, masked, with their timeline', async () => {
    const { data } = (await chief.session.get(`/api/admin/tasks/${failed}`)).body;
    expect([data.userId, data.prompt, data.errorCode]).to.deep.equal([
      user.id,
      '[masked]',
      'content_rejected',
    ]);
    const events = data.timeline.map(({ event }: { event: string }) => event);
    expect(events).to.include.members(['created', 'reserved', 'started', 'failed']);
  });
});

describe('what pages need', () => {
  let gateway: TestGateway;
  let user: TestUser;

  before(async () => {
    gateway = await startGateway();
    user = await gateway.createUser(1000);
  });
  after(() => gateway.stop());

  it('GET /api/console tells without a login what this is', async () => {
    const { status, body } = await gateway.anonymous.get('/api/console');
    expect(status).to.equal(200);
    const { name, version, publicUrl, sandbox, callSecondsMax, temporalUiUrl } = body.data;
    expect([name, publicUrl, sandbox, callSecondsMax, temporalUiUrl]).to.deep.equal([
      'svc-gateway',
      gateway.baseUrl,
      true,
      1800,
      null,
    ]);
    expect(version).to.match(/^\d+\.\d+\.\d+/);
  });

  it('GET /api/models lists what GET /v1/models does, with the usual time once it is known', async () => {
    for (let round = 0; round < 3; round += 1) {
      const order = { model: 'gpt-image-2', prompt: '[[sandbox seconds=0]]' };
      await user.key.post('/v1/images/generations', order, { prefer: 'wait=60' });
    }
    const { data } = (await user.session.get('/api/models')).body;
    const usual = new Map<string, { p50: number; p90: number } | null>(
      data.map((model: { id: string; usual_seconds: null }) => [model.id, model.usual_seconds]),
    );
    expect([...usual.keys()]).to.deep.equal(
      (await user.key.get('/v1/models')).body.data.map(({ id }: { id: string }) => id),
    );
    expect(usual.get('gpt-image-2')?.p50).to.be.within(0, 30);
    expect(usual.get('grok-imagine-video')).to.equal(null);
  });

  it('GET /api/admin/health tells of vendors, queues and limits', async () => {
    const chief = await createAdministrator(gateway);
    const { status, body } = await chief.session.get('/api/admin/health');
    expect(status).to.equal(200);
    const openai = body.data.vendors.find(({ family }: { family: string }) => family === 'openai');
    expect(openai.credentials[0].lastHour.completed).to.equal(3);
    expect(openai.credentials[0].cooldown).to.equal(null);
    expect(body.data.limiter.redis).to.equal('none');
    expect(body.data.violations).to.deep.equal([]);
  });
});

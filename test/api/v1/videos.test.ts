// POST /v1/videos/generations, and the two paths under which a video task is read.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { SENSITIVE_PARTS } from '../../../sandbox/error-text.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { PNG_DATA_URI } from '../../support/inputs.ts';
import { countSubmissions, readJournal } from '../../support/servers/sandbox.ts';
import { untilFinal } from '../../support/until.ts';

const PATH = '/v1/videos/generations';
const MODEL = 'grok-imagine-video';
const QUICK = '[[sandbox seconds=0]]';

describe('POST /v1/videos/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(10_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const create = (fields: object) => owner.key.post(PATH, { model: MODEL, ...fields });
  const read = async (id: string) => (await owner.key.get(`/v1/videos/tasks/${id}`)).body.data;
  const finished = async (id: string) => {
    await untilFinal(owner.session, id);
    return read(id);
  };

  it('answers 202 with a queued task, its estimate and how it is billed', async () => {
    const prompt = `a fox ${QUICK}`;
    const { status, body, headers } = await create({ prompt });
    expect(status).to.equal(202);
    expect(body).to.have.all.keys('data');
    expect(body.data).to.have.all.keys(
      ...['id', 'model', 'status', 'progress', 'creditsEstimate', 'creditsCharged', 'upstreamTaskId'],
      ...['outputUrl', 'errorMessage', 'requestPayload', 'billingMode', 'createdAt'],
    );
    expect(body.data).to.deep.include({
      model: MODEL,
      status: 'queued',
      progress: 0,
      creditsEstimate: 112, // the model's default: 8 seconds in 720p
      creditsCharged: 0,
      upstreamTaskId: null,
      outputUrl: null,
      errorMessage: null,
      requestPayload: { model: MODEL, prompt },
      billingMode: 'per_second',
    });
    expect(new Date(body.data.createdAt).toISOString()).to.equal(body.data.createdAt);
    expect(headers.get('location')).to.equal(`/v1/videos/tasks/${body.data.id}`);
    expect(headers.get('retry-after')).to.equal('5');
    await finished(body.data.id);
  });

  it('completes, charges by the second and reads the same under both paths', async () => {
    const { body } = await create({
      prompt: `a red fox ${QUICK}`,
      duration: 3,
      size: '9:16',
      metadata: { resolution: '480p' },
    });
    expect(body.data.creditsEstimate).to.equal(30);
    const task = await finished(body.data.id);
    expect(task).to.include({ status: 'completed', progress: 100, creditsCharged: 30, errorMessage: null });
    expect(task.upstreamTaskId).to.be.a('string');
    const video = await fetch(task.outputUrl);
    expect(video.headers.get('content-type')).to.equal('video/mp4');
    expect(
      Buffer.from(await video.arrayBuffer())
        .subarray(4, 8)
        .toString(),
    ).to.equal('ftyp');
    const other = await owner.key.get(`/v1/videos/generations/${body.data.id}`);
    expect(other.body.data).to.deep.equal(task);
    expect(other.headers.get('retry-after')).to.equal(null);
    expect(await countSubmissions(gateway.sandboxUrl, 'a red fox')).to.equal(1);
  });

  it('takes the ratio and the resolution under either name', async () => {
    const estimate = async (fields: object) => {
      const body = { mode: 'video', model: MODEL, prompt: 'a fox', duration: 1, ...fields };
      const answer = await owner.key.post('/v1/estimates', body);
      return answer.body.data?.creditsEstimate;
    };
    expect(await estimate({ size: '1:1', aspect_ratio: '1:1' })).to.equal(14);
    expect(await estimate({ aspect_ratio: '1:1', resolution: '480p' })).to.equal(10);
    expect(await estimate({ metadata: { resolution: '480p' }, resolution: '480p' })).to.equal(10);
    expect(await estimate({ image_urls: [PNG_DATA_URI] })).to.equal(14.4);
  });

  it('shows the payload with every secret masked, and the prompt as its owner wrote it', async () => {
    const secrets = {
      image_url: 'https://cdn.example.com/x.png?sig=url-secret',
      headers: { Authorization: 'Bearer header-secret-4f9a1c7e2b8d' },
      img: PNG_DATA_URI,
      apiKey: 'key-secret',
      note: `see https://cdn.example.com/y.png?token=nested-secret now`,
      blob: 'QUJD'.repeat(80),
    };
    const prompt = `fox at https://example.com/?token=mine ${QUICK}`;
    const { body } = await create({ prompt, duration: 1, resolution: '480p', extra: secrets });
    const { id } = body.data;
    await untilFinal(owner.session, id);
    const listed = (await owner.session.get('/api/tasks')).body.data;
    const shown = [
      body.data,
      (await owner.key.get(`/v1/videos/tasks/${id}`)).body.data,
      (await owner.key.get(`/v1/videos/generations/${id}`)).body.data,
      (await owner.session.get(`/api/tasks/${id}`)).body.data,
      listed.find((task: { id: string }) => task.id === id),
    ];
    for (const { requestPayload } of shown) {
      expect(requestPayload).to.deep.equal({
        model: MODEL,
        prompt,
        duration: 1,
        resolution: '480p',
        extra: {
          image_url: '[masked:url]',
          headers: { Authorization: '[masked]' },
          img: '[masked:data-uri image/png 70]',
          apiKey: '[masked]',
          note: 'see [masked:url] now',
          blob: '[masked:base64 320]',
        },
      });
    }
    const stored = sql`select request_payload::text as kept from task where id = ${id}`;
    const [row] = await gateway.em().execute<{ kept: string }[]>(stored);
    expect(row?.kept).not.to.match(/secret|token=mine/);
    expect(gateway.logged()).not.to.match(/url-secret|header-secret|key-secret|nested-secret|token=mine/);
  });

  const failures: [directive: string, text: RegExp][] = [
    ['outcome=fail', /^The provider could not do this\./],
    ['outcome=moderated', /^The provider refused this content\./],
    ['outcome=expire', /^The provider could not do this\./],
    ['outcome=fail reason=invalid', /^The provider refused this request\./],
    ['outcome=fail reason=quota', /^The provider could not do this\.$/],
    ['submit=401', /^The provider could not do this\.$/],
    ['deliver=0', /^The provider gave an answer/],
    ['result=private', /^The provider finished, but its result could not be fetched\./],
    ['result=redirect_private', /^The provider finished, but its result could not be fetched\./],
    ['result=javascript', /^The provider finished, but its result could not be fetched\./],
    ['result=html', /^The provider finished, but its result could not be fetched\./],
  ];
  it('charges nothing for a failed task and says why, in masked words', async () => {
    const check = async ([directive, text]: (typeof failures)[number]): Promise<void> => {
      const { body } = await create({ prompt: `[[sandbox seconds=0 text=leaky ${directive}]]`, duration: 1 });
      const task = await finished(body.data.id);
      expect(task, directive).to.include({ status: 'failed', creditsCharged: 0, outputUrl: null });
      expect(task.errorMessage, directive).to.match(text).and.to.have.length.at.most(500);
      for (const part of [...Object.values(SENSITIVE_PARTS), 'vendor-backend'])
        expect(task.errorMessage, directive).not.to.contain(part);
    };
    await Promise.all(failures.map(check));
    expect((await owner.key.get('/v1/balance')).body.data.reserved).to.equal(0);
  });

  it('gets over a vendor that stumbles, with one job and one charge', async () => {
    const stumbles = [
      'poll=500*1',
      'poll=429*1',
      'poll=html*1',
      'poll=weird*1',
      'poll=not_found*1',
      'submit=429*1',
      'submit=503*1',
    ];
    const check = async (directive: string): Promise<void> => {
      const prompt = `stumble ${directive} [[sandbox seconds=0 ${directive}]]`;
      const { body } = await create({ prompt, duration: 1 });
      expect(await finished(body.data.id), directive).to.include({ status: 'completed', creditsCharged: 14 });
      const calls = await readJournal(gateway.sandboxUrl, `stumble ${directive}`);
      const jobs = new Set(calls.map(({ jobId }) => jobId).filter((id) => id !== null));
      expect(jobs.size, directive).to.equal(1);
    };
    await Promise.all(stumbles.map(check));
  });

  it('shows progress from 0 to 100 that never falls, whatever the vendor says', async () => {
    const { body } = await create({ prompt: '[[sandbox seconds=3 poll=flap]]', duration: 1 });
    const seen: number[] = [];
    for (let ended = false; !ended;) {
      const task = await read(body.data.id);
      seen.push(task.progress);
      ended = task.status !== 'queued' && task.status !== 'in_progress';
    }
    expect(seen).to.deep.equal([...seen].sort((one, other) => one - other));
    expect(seen.at(-1)).to.equal(100);
    expect(new Set(seen).size, 'some progress in between').to.be.greaterThan(2);
    expect(seen.every((progress) => Number.isInteger(progress) && progress >= 0)).to.equal(true);
    expect(seen.filter((progress) => progress === 100)).to.have.length(1);
  });

  for (const path of ['/v1/videos/tasks', PATH]) {
    it(`does not know a malformed id under ${path}`, async () => {
      expectError(await owner.key.get(`${path}/x`), 404, 'task_not_found', null);
    });
  }
});

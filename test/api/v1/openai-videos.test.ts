// /v1/videos in OpenAI's shape: by hand, and with OpenAI's own clients for Node and Python.
import { expect } from 'chai';
import OpenAI, { toFile } from 'openai';
import type { ErrorCode } from '../../../domain/errors.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { failureOf, openClient } from '../../support/http/openai-client.ts';
import { PNG_BASE64, PNG_DATA_URI } from '../../support/inputs.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until, untilFinal, untilStatus } from '../../support/until.ts';
import { installPackage, runScript } from '../../sandbox/sdk/python.ts';
import { makeId } from '../../../db/ids.ts';

const MODEL = 'grok-imagine-video';
const WAIT = { prefer: 'wait=60' };
const PYTHON_LIMIT_MS = 300_000;
const order = (directive = 'seconds=0', fields: object = {}) => ({
  model: MODEL,
  prompt: `waves [[sandbox ${directive}]]`,
  seconds: '2',
  size: '854x480',
  ...fields,
});

describe('/v1/videos', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let client: OpenAI;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(10_000);
    client = openClient(gateway, owner).client;
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const create = (fields: object, headers: Record<string, string> = {}) =>
    owner.key.post('/v1/videos', fields, headers);
  const made = async (directive?: string): Promise<string> => {
    const { body } = await create(order(directive));
    await untilFinal(owner.session, body.id);
    return body.id;
  };

  it('creates the task that /v1/videos/generations creates, and reads it in OpenAI’s shape', async () => {
    const { status, body, headers } = await create(order());
    expect(status).to.equal(200);
    expect(headers.get('location')).to.equal(`/v1/videos/${body.id}`);
    expect(headers.get('retry-after')).to.equal('5');
    expect(body).to.deep.include({
      object: 'video',
      model: MODEL,
      status: 'queued',
      progress: 0,
      prompt: order().prompt,
      seconds: '2',
      size: '854x480',
      completed_at: null,
      error: null,
      creditsEstimate: 20,
      creditsCharged: 0,
    });
    const task = await untilFinal(owner.session, body.id);
    expect(task.requestPayload).to.deep.equal(order());
    const read = await owner.key.get(`/v1/videos/${body.id}`);
    expect(read.headers.get('retry-after')).to.equal(null);
    expect(read.body).to.deep.include({ status: 'completed', progress: 100, creditsCharged: 20 });
    expect(read.body.completed_at).to.be.at.least(read.body.created_at);
    const other = await owner.key.get(`/v1/videos/tasks/${body.id}`);
    expect(other.body.data).to.include({ status: 'completed', creditsCharged: 20 });
  });

  it('waits for the end where it is preferred', async () => {
    const done = await create(order(), WAIT);
    expect([done.status, done.body.status]).to.deep.equal([200, 'completed']);
    expect(done.body).to.deep.equal((await owner.key.get(`/v1/videos/${done.body.id}`)).body);
    expectError(await create(order('seconds=0 outcome=moderated'), WAIT), 400, 'content_rejected', null);
    const slow = await create(order('seconds=2'), { prefer: 'wait=1' });
    expect([slow.status, slow.body.status === 'completed']).to.deep.equal([200, false]);
    const read = await owner.key.get(`/v1/videos/${slow.body.id}`, WAIT);
    expect(read.body.status).to.equal('completed');
  });

  it('reads a failed and a cancelled video as failed, with its code', async () => {
    const failed = await made('seconds=0 outcome=moderated');
    expect((await owner.key.get(`/v1/videos/${failed}`)).body).to.deep.include({ status: 'failed' });
    expect((await owner.key.get(`/v1/videos/${failed}`)).body.error.code).to.equal('content_rejected');
    const { body } = await create(order('outcome=stuck'));
    await untilStatus(owner.session, body.id, 'in_progress');
    await owner.session.delete(`/api/tasks/${body.id}`);
    await untilFinal(owner.session, body.id);
    const { error } = (await owner.key.get(`/v1/videos/${body.id}`)).body;
    expect(error.code).to.equal('task_cancelled');
  });

  for (const [what, fields, param] of [
    ['a length that the model does not have', { seconds: '99' }, 'seconds'],
    ['seconds that are no number', { seconds: 'four' }, 'seconds'],
    ['a size that the model does not have', { size: '640x640' }, 'size'],
    ['another resolution beside the size', { resolution: '720p' }, 'resolution'],
    ['a first frame that is no picture', { input_reference: 'ftp://example.com/x' }, 'input_reference'],
  ] as const)
    it(`refuses ${what}, and names the field`, async () => {
      const codes: Record<string, ErrorCode> = {
        resolution: 'conflicting_params',
        input_reference: 'url_not_allowed',
      };
      expectError(await create(order('', fields)), 400, codes[param] ?? 'invalid_value', param);
    });

  it('takes a ratio and a resolution in place of pixels, and a picture as a link in JSON', async () => {
    const fields = { size: '9:16', resolution: '720p', input_reference: { image_url: PNG_DATA_URI } };
    const { body } = await create(order('seconds=0', fields), WAIT);
    expect(body).to.include({ status: 'completed', size: '720x1280' });
  });

  it('lists the videos of the user alone, in both orders, page by page', async () => {
    const other = await gateway.createUser(1_000);
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1)
      ids.unshift((await other.key.post('/v1/videos', order(), WAIT)).body.id);
    await other.key.post('/v1/images/generations', { model: 'gpt-image-2', prompt: 'a cat' });
    const { body } = await other.key.get('/v1/videos?limit=2');
    expect(body).to.include({ object: 'list', first_id: ids[0], last_id: ids[1], has_more: true });
    expect(body.data[0]).to.deep.equal((await other.key.get(`/v1/videos/${ids[0]}`)).body);
    const rest = await other.key.get(`/v1/videos?limit=2&after=${ids[1]}`);
    expect(rest.body).to.include({ first_id: ids[2], has_more: false });
    const old = await other.key.get('/v1/videos?order=asc');
    expect(old.body.data.map(({ id }: { id: string }) => id)).to.deep.equal(ids.toReversed());
    expectError(await other.key.get('/v1/videos?limit=0'), 400, 'invalid_value', 'limit');
  });

  it('serves the content to its owner alone, whole and in parts', async () => {
    const id = await made();
    const headers = { authorization: `Bearer ${owner.apiKey}` };
    const url = `${gateway.baseUrl}/v1/videos/${id}/content`;
    const whole = await fetch(url, { headers });
    expect([whole.status, whole.headers.get('content-type')]).to.deep.equal([200, 'video/mp4']);
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(bytes.subarray(4, 8).toString()).to.equal('ftyp');
    const part = await fetch(url, { headers: { ...headers, range: 'bytes=4-7' } });
    expect([part.status, await part.text()]).to.deep.equal([206, 'ftyp']);
    const stranger = await gateway.createUser(0);
    expectError(await stranger.key.get(`/v1/videos/${id}/content`), 404, 'task_not_found', null);
    expectError(await owner.key.get(`/v1/videos/${id}/content?variant=thumbnail`), 404, 'file_not_found');
    expectError(await owner.key.get(`/v1/videos/${id}/content?variant=x`), 400, 'invalid_value', 'variant');
    const failed = await made('seconds=0 outcome=fail');
    expectError(await owner.key.get(`/v1/videos/${failed}/content`), 404, 'file_not_found', null);
  });

  it('deletes a video and its file, and the console keeps what it cost', async () => {
    const id = await made();
    const { outputUrl } = (await owner.session.get(`/api/tasks/${id}`)).body.data;
    const { status, body } = await owner.key.delete(`/v1/videos/${id}`);
    expect([status, body]).to.deep.equal([200, { id, object: 'video.deleted', deleted: true }]);
    for (const path of [`/v1/videos/${id}`, `/v1/videos/tasks/${id}`, `/v1/videos/${id}/content`])
      expectError(await owner.key.get(path), 404, 'task_not_found', null);
    expectError(await owner.key.delete(`/v1/videos/${id}`), 404, 'task_not_found', null);
    expect((await fetch(outputUrl)).status).to.equal(404);
    const listed = (await owner.key.get('/v1/videos?limit=100')).body.data;
    expect(listed.map((video: { id: string }) => video.id)).not.to.include(id);
    const kept = (await owner.session.get(`/api/tasks/${id}`)).body.data;
    expect(kept).to.deep.include({ status: 'completed', creditsCharged: 20, outputUrl: null, outputs: [] });
  });

  it('cancels a running video that is deleted, and charges nothing', async () => {
    const { body } = await create(order('outcome=stuck'));
    await untilStatus(owner.session, body.id, 'in_progress');
    const deleted = await until('it is deleted', async () => {
      const answer = await owner.key.delete(`/v1/videos/${body.id}`);
      if (answer.status === 409) expectError(answer, 409, 'task_not_ended', null);
      return answer.status === 200 && answer;
    });
    expect(deleted.body.deleted).to.equal(true);
    const task = (await owner.session.get(`/api/tasks/${body.id}`)).body.data;
    expect(task).to.include({ status: 'cancelled', creditsCharged: 0 });
    expectError(await owner.key.delete(`/v1/videos/${makeId('task')}`), 404, 'task_not_found', null);
  });

  it('cannot be retried once it is deleted', async () => {
    const id = await made('seconds=0 outcome=fail');
    expect((await owner.key.delete(`/v1/videos/${id}`)).status).to.equal(200);
    expectError(await owner.session.post(`/api/tasks/${id}/retry`), 409, 'task_not_retryable', null);
  });

  it('has one task for repeats with an Idempotency-Key, as a form too', async () => {
    const idempotent = { headers: { 'idempotency-key': 'one-video' } };
    const input = await toFile(Buffer.from(PNG_BASE64, 'base64'), 'first.png', { type: 'image/png' });
    const body = { ...order(), input_reference: input } as OpenAI.VideoCreateParams;
    const first = await client.videos.create(body, idempotent);
    expect((await client.videos.create(body, idempotent)).id).to.equal(first.id);
    const other = await failureOf(client.videos.create({ ...body, seconds: '8' }, idempotent));
    expect(other).to.include({ status: 422, code: 'idempotency_key_reused' });
  });

  describe('with OpenAI’s client for Node', () => {
    it('creates with a first frame, polls, downloads, lists and deletes', async () => {
      const input = await toFile(Buffer.from(PNG_BASE64, 'base64'), 'first.png', { type: 'image/png' });
      const body = { ...order('seconds=1'), input_reference: input } as OpenAI.VideoCreateParams;
      const { id, status } = await client.videos.create(body);
      expect(status).to.equal('queued');
      const video = await until('it is made', async () => {
        const read = await client.videos.retrieve(id);
        return read.status === 'completed' && read;
      });
      expect(video).to.include({ seconds: '2', progress: 100 });
      const content = await client.videos.downloadContent(id);
      expect((await content.arrayBuffer()).byteLength).to.be.above(100);
      const ids: string[] = [];
      for await (const each of client.videos.list({ limit: 2 })) ids.push(each.id);
      expect(new Set(ids).size).to.equal(ids.length);
      expect(ids[0]).to.equal(id);
      expect(await client.videos.delete(id)).to.deep.include({ id, deleted: true });
      expect(await failureOf(client.videos.retrieve(id))).to.be.instanceOf(OpenAI.NotFoundError);
    });

    it('maps refusals', async () => {
      const refused = await failureOf(client.videos.create({ ...order(), size: '1x1' } as never));
      expect(refused).to.be.instanceOf(OpenAI.BadRequestError).and.to.include({ param: 'size' });
    });

    it('has OpenAI’s defaults', async () => {
      const video = await client.videos.create({ prompt: 'waves [[sandbox seconds=0]]' });
      expect(video).to.include({ model: 'sora-2', seconds: '4', size: '1280x720' });
    });
  });

  it('works with OpenAI’s client for Python: create_and_poll, download, list, delete, edits', async function () {
    this.timeout(PYTHON_LIMIT_MS);
    const installed = await installPackage('openai==3.52.0');
    if (installed.kind === 'missing') {
      process.stderr.write(`skipped, since it cannot be installed: ${installed.why}\n`);
      this.skip();
    }
    const script = '../../api/v1/openai_videos.py';
    const found = await runScript(installed.folder, script, `${gateway.baseUrl}/v1`, owner.apiKey);
    expect(found).to.deep.include({
      status: 'completed',
      seconds: '2',
      begins: 'ftyp',
      listed: true,
      deleted: true,
      gone: 'task_not_found',
      edited: 1,
      inputs: 2,
    });
  });
});

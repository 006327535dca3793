// POST /v1/uploads/videos: what is stored, how much, and how often with an Idempotency-Key.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { expect } from 'chai';
import { sql } from '@mikro-orm/postgresql';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { ageUpload, countUploads, makeVideo, upload, UPLOADS } from '../../support/uploads.ts';
import { until } from '../../support/until.ts';

const KIB = 1024;
const QUOTA_BYTES = 1_000;

describe('POST /v1/uploads/videos', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let stranger: TestUser;

  before(async () => {
    const env = { SVC_UPLOAD_BYTES_MAX: String(QUOTA_BYTES), SVC_UPLOAD_QUOTA_BYTES: String(QUOTA_BYTES) };
    gateway = await startGateway({ worker: false, env });
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser(0);
    stranger = await gateway.createUser(0);
  });

  const listed = async (user: TestUser): Promise<unknown[]> => (await user.key.get(UPLOADS)).body.data;
  const make = async (bytes?: number): Promise<Answer['body']> => {
    const { status, body } = await upload(owner.key, makeVideo(bytes));
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  };

  it('answers 201 with all that is known of the file', async () => {
    const video = makeVideo(200);
    const { status, body } = await upload(owner.key, video, { filename: 'Wellen am Pier.mp4' });
    expect(status).to.equal(201);
    const { id, url, createdAt, expiresAt, ...rest } = body.data;
    expect(rest).to.deep.equal({
      object: 'file',
      filename: 'Wellen am Pier.mp4',
      contentType: 'video/mp4',
      bytes: 200,
      sha256: createHash('sha256').update(video).digest('hex'),
    });
    expect(new URL(url).pathname).to.equal(`/uploads/${id}.mp4`);
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).to.equal(24 * 3_600_000);
    expect(Math.floor(Date.parse(expiresAt) / 1000)).to.equal(
      Number(new URL(url).searchParams.get('expires')),
    );
  });

  it('takes a form as browsers and fetch make it', async () => {
    const form = new FormData();
    form.append(
      'file',
      new File([new Uint8Array(makeVideo(64, 'webm'))], 'clip.webm', { type: 'video/webm' }),
    );
    const answer = await fetch(`${gateway.baseUrl}${UPLOADS}`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${owner.apiKey}` },
    });
    expect(answer.status).to.equal(201);
    const { data } = (await answer.json()) as Answer['body'];
    expect([data.filename, data.contentType]).to.deep.equal(['clip.webm', 'video/webm']);
  });

  for (const [kind, type] of [
    ['mp4', 'video/mp4'],
    ['mov', 'video/quicktime'],
    ['webm', 'video/webm'],
  ] as const)
    it(`knows ${kind} by its content, whatever it is called`, async () => {
      const { body } = await upload(owner.key, makeVideo(100, kind), { filename: 'script.exe' });
      expect(body.data.contentType).to.equal(type);
      expect(new URL(body.data.url).pathname).to.match(new RegExp(`\\.${kind}$`));
    });

  it('is 401 for nobody and for a session: nothing of the body is read', async () => {
    const { status } = await upload(gateway.anonymous);
    expect(status).to.equal(401);
    expectError(await upload(owner.session), 401, 'missing_api_key');
    expect(await listed(owner)).to.deep.equal([]);
  });

  it('takes files until the room of the user is full: 413, and nothing of the last one stays', async () => {
    await make(600);
    await make(400);
    const full = await countUploads(gateway);
    expectError(await upload(owner.key, makeVideo(60)), 413, 'storage_quota_exceeded');
    await until('the refused file is gone', async () => (await countUploads(gateway)).files === full.files);
    expect((await upload(stranger.key, makeVideo(60))).status, 'somebody else').to.equal(201);
  });

  it('lets one of two that fit only alone through, when they come at once', async () => {
    const both = await Promise.all([upload(owner.key, makeVideo(600)), upload(owner.key, makeVideo(601))]);
    expect(both.map(({ status }) => status)).to.have.members([201, 413]);
    const { body } = await owner.key.get(UPLOADS);
    expect(body.data).to.have.length(1);
  });

  it('frees the room of what was deleted, and of what has expired', async () => {
    const { id } = await make(600);
    expect((await owner.key.delete(`${UPLOADS}/${id}`)).status).to.equal(204);
    const { id: second } = await make(900);
    await ageUpload(gateway, second, 24);
    await make(900);
  });

  describe('with an Idempotency-Key', () => {
    const send = (key: string, content = makeVideo(), filename = 'waves.mp4') =>
      upload(owner.key, content, { filename, headers: { 'idempotency-key': key } });

    it('stores one file for the same bytes, and replays the answer, whatever the file is called now', async () => {
      const first = await send('one');
      const before = await countUploads(gateway);
      const repeat = await send('one', makeVideo(), 'other-name.mp4');
      expect(repeat.body).to.deep.equal(first.body);
      expect(repeat.headers.get('idempotent-replayed')).to.equal('true');
      await until(
        'the repeated file is gone',
        async () => (await countUploads(gateway)).files === before.files,
      );
      expect(await countUploads(gateway)).to.deep.equal(before);
    });

    it('answers 422 to other bytes, and stores nothing of them', async () => {
      await send('two');
      const before = await countUploads(gateway);
      expectError(await send('two', makeVideo(101)), 422, 'idempotency_key_reused', 'Idempotency-Key');
      await until('the other file is gone', async () => (await countUploads(gateway)).files === before.files);
    });

    it('replays even when the room is full', async () => {
      const first = await send('full', makeVideo(QUOTA_BYTES));
      expect((await send('full', makeVideo(QUOTA_BYTES))).body).to.deep.equal(first.body);
    });

    it('leaves the key free after a refusal', async () => {
      expectError(await send('free', Buffer.from('<svg>')), 415, 'unsupported_media_type');
      expect((await send('free')).status).to.equal(201);
    });

    it('lets one of ten at once store its file', async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => send('crowd')));
      const made = answers.filter(
        ({ status, headers }) => status === 201 && !headers.get('idempotent-replayed'),
      );
      expect(made).to.have.length(1);
      const [row] = await gateway.em().execute<{ count: number }[]>(sql`
        select count(*)::int as count from upload where user_id = ${owner.id}`);
      expect(row?.count).to.equal(1);
    });

    it('must be one: 400', async () => {
      expectError(await send('not a key'), 400, 'invalid_request', 'Idempotency-Key');
      expect(await listed(owner)).to.deep.equal([]);
    });
  });

  it('counts uploads of a user together, before anything is read', async () => {
    const limited = await startGateway({ worker: false, env: { SVC_LIMIT_UPLOAD: '2/60' } });
    try {
      const user = await limited.createUser(0);
      expect((await upload(user.key)).status).to.equal(201);
      expectError(await upload(user.key, Buffer.alloc(10)), 415, 'unsupported_media_type');
      const headers = {
        authorization: `Bearer ${user.apiKey}`,
        'content-type': 'multipart/form-data; boundary=x',
      };
      const raw = { method: 'POST', path: UPLOADS, headers, announcedBytes: 100 * KIB };
      const refused = await sendRaw(limited.baseUrl, raw);
      expect(refused.status).to.equal(429);
      expect(JSON.parse(refused.text).error.code).to.equal('rate_limited');
    } finally {
      await limited.stop();
    }
  });

  it('keeps its hands off what it cannot write: 503 storage_unavailable, the row is not there, the next one works', async () => {
    const { storage } = gateway.services;
    const { StorageUnavailable } = await import('../../../storage/storage.ts');
    gateway.services.storage = {
      ...storage,
      write: async (_key, stream) => {
        await once(stream, 'readable');
        stream.destroy();
        throw new StorageUnavailable(new Error('ENOSPC: no space left on device'));
      },
    };
    try {
      const answer = await upload(owner.key);
      expectError(answer, 503, 'storage_unavailable');
      expect(JSON.stringify(answer.body)).not.to.include('ENOSPC');
      expect(answer.headers.get('retry-after')).to.equal('1');
    } finally {
      gateway.services.storage = storage;
    }
    expect(await listed(owner)).to.deep.equal([]);
    expect((await upload(owner.key)).status).to.equal(201);
  });
});

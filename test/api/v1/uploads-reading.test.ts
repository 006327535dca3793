// GET and DELETE /v1/uploads/videos, and the links to what was uploaded: for a day, and for its owner alone.
import { expect } from 'chai';
import { sql } from '@mikro-orm/postgresql';
import { makeId } from '../../../db/ids.ts';
import { signUrl } from '../../../storage/signed-urls.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';
import { sendRaw, tellingHeaders } from '../../support/http/raw.ts';
import { ageUpload, makeVideo, upload, UPLOADS } from '../../support/uploads.ts';

const QUOTA_BYTES = 1_000;

describe('/v1/uploads/videos', () => {
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

  const make = async (bytes?: number): Promise<Answer['body']> => {
    const { status, body } = await upload(owner.key, makeVideo(bytes));
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  };
  const download = (url: string, headers: Record<string, string> = {}, method = 'GET') => {
    const { pathname, search } = new URL(url);
    return sendRaw(gateway.baseUrl, { method, path: pathname + search, headers });
  };

  describe('GET', () => {
    it('lists one’s own files in pages, newest first', async () => {
      const ids = [(await make()).id, (await make()).id, (await make()).id];
      await upload(stranger.key);
      const first = (await owner.key.get(`${UPLOADS}?limit=2`)).body;
      expect(first.data.map(({ id }: { id: string }) => id)).to.deep.equal([ids[2], ids[1]]);
      expect(first.hasMore).to.equal(true);
      const { body } = await owner.key.get(`${UPLOADS}?limit=2&cursor=${first.nextCursor}`);
      expect(body).to.deep.include({ hasMore: false, nextCursor: null });
      expect(body.data.map(({ id }: { id: string }) => id)).to.deep.equal([ids[0]]);
      expectError(await owner.key.get(`${UPLOADS}?cursor=x`), 400, 'invalid_value', 'cursor');
    });

    it('reads one as it was answered at first, with any key of the user', async () => {
      const made = await make();
      expect((await owner.key.get(`${UPLOADS}/${made.id}`)).body.data).to.deep.equal(made);
    });

    it('shows nothing of what has expired', async () => {
      const { id, url } = await make();
      await ageUpload(gateway, id, 24);
      expectError(await owner.key.get(`${UPLOADS}/${id}`), 404, 'file_not_found');
      expect((await owner.key.get(UPLOADS)).body.data).to.deep.equal([]);
      expect((await download(url)).status).to.equal(404);
      expectError(await owner.key.delete(`${UPLOADS}/${id}`), 404, 'file_not_found');
    });
  });

  it('answers the same 404 for somebody else’s file, a missing one and what is no id, byte for byte', async () => {
    const { id } = await make();
    for (const method of ['GET', 'DELETE']) {
      const ask = (path: string) =>
        sendRaw(gateway.baseUrl, {
          method,
          path: `${UPLOADS}/${path}`,
          headers: { authorization: `Bearer ${stranger.apiKey}`, 'x-request-id': 'same' },
        });
      const [foreign, missing, none] = [await ask(id), await ask(makeId('file')), await ask('1')];
      expect(foreign.status).to.equal(404);
      for (const answer of [missing, none]) {
        expect(answer.text).to.equal(foreign.text);
        expect(tellingHeaders(answer)).to.deep.equal(tellingHeaders(foreign));
      }
    }
    expect((await owner.key.get(`${UPLOADS}/${id}`)).status).to.equal(200);
  });

  describe('DELETE', () => {
    it('removes row and file, answers 204, and the second time 404', async () => {
      const { id, url } = await make();
      const deleted = await owner.key.delete(`${UPLOADS}/${id}`);
      expect([deleted.status, deleted.body]).to.deep.equal([204, null]);
      expect((await download(url)).status).to.equal(404);
      expectError(await owner.key.delete(`${UPLOADS}/${id}`), 404, 'file_not_found');
      const rows = await gateway.em().execute(sql`select 1 from upload where id = ${id}`);
      expect(rows).to.deep.equal([]);
    });

    it('holds although the storage is away: the file is gone for its owner at once', async () => {
      const { id, url } = await make();
      const { storage } = gateway.services;
      gateway.services.storage = { ...storage, delete: () => Promise.reject(new Error('played')) };
      try {
        expect((await owner.key.delete(`${UPLOADS}/${id}`)).status).to.equal(204);
      } finally {
        gateway.services.storage = storage;
      }
      expect((await download(url)).status).to.equal(404);
      expectError(await owner.key.get(`${UPLOADS}/${id}`), 404, 'file_not_found');
    });
  });

  describe('the link', () => {
    it('hands the file out to everybody, as an attachment under its own name', async () => {
      const video = makeVideo(300);
      const { body } = await upload(owner.key, video, { filename: 'Größe 1.mp4' });
      const response = await fetch(body.data.url);
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.equal('video/mp4');
      expect(response.headers.get('content-disposition'))
        .to.include('attachment')
        .and.include("filename*=UTF-8''Gr%C3%B6%C3%9Fe");
      expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
      expect(response.headers.get('content-security-policy')).to.equal("sandbox; default-src 'none'");
      expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(video);
    });

    for (const [range, wanted, part] of [
      ['bytes=0-9', 'bytes 0-9/300', [0, 10]],
      ['bytes=290-', 'bytes 290-299/300', [290, 300]],
      ['bytes=-5', 'bytes 295-299/300', [295, 300]],
      ['bytes=10-99999', 'bytes 10-299/300', [10, 300]],
    ] as const)
      it(`hands out a part of it for ${range}`, async () => {
        const video = Buffer.concat([
          makeVideo(20),
          Buffer.from(Array.from({ length: 280 }, (_, index) => index % 256)),
        ]);
        const { body } = await upload(owner.key, video);
        const response = await fetch(body.data.url, { headers: { range } });
        expect(response.status).to.equal(206);
        expect(response.headers.get('content-range')).to.equal(wanted);
        expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(video.subarray(...part));
      });

    it('answers 416 with the size for a range outside it', async () => {
      const { url } = await make(300);
      for (const range of ['bytes=300-', 'bytes=400-500', 'bytes=-0']) {
        const response = await fetch(url, { headers: { range } });
        expect([response.status, response.headers.get('content-range')], range).to.deep.equal([
          416,
          'bytes */300',
        ]);
        expect(await response.text()).to.include('"range_not_satisfiable"');
      }
    });

    it('hands out all of it for a range that is none, or is several', async () => {
      const { url } = await make(300);
      for (const range of ['bytes=9-1', 'bytes=400-300', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=-']) {
        const { status, headers } = await download(url, { range });
        expect([status, headers['content-length']], range).to.deep.equal([200, '300']);
      }
    });

    it('hands out all of it when a range is only for a file that has not changed, which cannot be told', async () => {
      const { url } = await make(300);
      for (const ifRange of ['"etag"', 'Tue, 24 Nov 2026 10:00:00 GMT']) {
        const { status, headers } = await download(url, { range: 'bytes=0-9', 'if-range': ifRange });
        expect([status, headers['content-length']], ifRange).to.deep.equal([200, '300']);
      }
    });

    it('leads nowhere when anything of it was changed, or when nobody has such a file', async () => {
      const { id, url } = await make();
      const { pathname, search } = new URL(url);
      const sign = (path: string) =>
        signUrl({
          publicUrl: gateway.baseUrl,
          path,
          expiresAt: new Date(Date.now() + 60_000),
          keys: gateway.secrets.signingKeys(),
        });
      const links = [
        pathname,
        `${pathname}${search}x`,
        `${pathname.replace('.mp4', '.mov')}${search}`,
        `/uploads/${makeId('file')}.mp4${search}`,
        sign(`/uploads/${id}.webm`),
        sign(`/uploads/${makeId('file')}.mp4`),
        sign('/uploads/..%2fresults%2fx.mp4'),
      ];
      for (const link of links) {
        const answer = await download(new URL(link, gateway.baseUrl).href);
        expect(answer.status, link).to.equal(404);
        expect(JSON.parse(answer.text).error.code).to.equal('file_not_found');
      }
    });

    it('answers HEAD with the same headers and no body', async () => {
      const { url } = await make(300);
      const { status, headers, text } = await download(url, {}, 'HEAD');
      expect([status, headers['content-length'], headers['accept-ranges'], text]).to.deep.equal([
        200,
        '300',
        'bytes',
        '',
      ]);
    });
  });
});

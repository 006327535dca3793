// Uploads of forbidden kinds, of any length, and over broken connections: refused at once, and nothing stays.
import { request, type ClientRequest } from 'node:http';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createApp } from '../../../api/app.ts';
import { createHttpServer, type HttpServer } from '../../../api/http/http-server.ts';
import { listen } from '../../../runtime/listener.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { startApiProcess } from '../../support/servers/process.ts';
import { converse, sendRaw, type Conversation } from '../../support/http/raw.ts';
import {
  countUploads,
  filesIn,
  expectFormRefused,
  FORM_TYPE,
  makeForm,
  makeVideo,
  untilUploadsAre,
  upload,
  UPLOADS,
  writePart,
  type Part,
} from '../../support/uploads.ts';
import { until } from '../../support/until.ts';

const BYTES_MAX = 100_000;
const video: Part = { filename: 'a.mp4', content: makeVideo() };

describe('an upload whose content or connection is hostile or broken', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_UPLOAD_BYTES_MAX: String(BYTES_MAX) } });
    owner = await gateway.createUser(0);
  });
  after(() => gateway.stop());
  afterEach(async () => {
    expect((await upload(owner.key)).status, 'the next one works').to.equal(201);
  });

  const authorization = () => ({ authorization: `Bearer ${owner.apiKey}` });
  const expectRefused = (body: Buffer, refusal: readonly [number, string]): Promise<void> =>
    expectFormRefused(gateway, owner.key, body, refusal);

  describe('as a file', () => {
    const asf = Buffer.concat([Buffer.from('3026b2758e66cf11a6d900aa0062ce6c', 'hex'), Buffer.alloc(39)]);
    const kinds: [string, Buffer][] = [
      ['a program', Buffer.concat([Buffer.from('MZ'), Buffer.alloc(500, 144)])],
      ['a page', Buffer.from('<!doctype html><script>alert(1)</script>')],
      ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')],
      ['a ZIP archive', Buffer.concat([Buffer.from('504b0304', 'hex'), Buffer.alloc(100)])],
      ['55 bytes of ASF', asf],
      ['a PNG called .mp4', Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)])],
      [
        'Matroska that is no WebM',
        Buffer.from('1a45dfa3a34286810142f7810142f2810442f381084282886d6174726f736b61', 'hex'),
      ],
      ['a HEIC picture', Buffer.from('0000001c6674797068656963000000006d696631', 'hex')],
      ['one byte', Buffer.from('x')],
    ];
    for (const [what, content] of kinds)
      it(`that is ${what} is 415`, () =>
        expectRefused(makeForm({ filename: 'a.mp4', type: 'video/mp4', content }), [
          415,
          'unsupported_media_type',
        ]));

    it('may have exactly as many bytes as allowed, and not one more', async () => {
      const { body } = await upload(owner.key, makeVideo(BYTES_MAX));
      expect(body.data.bytes).to.equal(BYTES_MAX);
      await expectRefused(makeForm({ ...video, content: makeVideo(BYTES_MAX + 1) }), [413, 'file_too_large']);
    });
  });

  describe('by its length', () => {
    it('of 10 GB is 413 before anything is read', async () => {
      const headers = { ...authorization(), 'content-type': FORM_TYPE, 'content-length': String(10e9) };
      const answer = await sendRaw(gateway.baseUrl, {
        method: 'POST',
        path: UPLOADS,
        headers,
        announcedBytes: 10e9,
      });
      expect(answer.status).to.equal(413);
      expect(JSON.parse(answer.text).error.code).to.equal('file_too_large');
    });

    it('of 1 GB without a key is 401 before anything is read, and the line is cut', async () => {
      const sending = sendEndlessly({ 'content-type': FORM_TYPE, 'content-length': String(2 ** 30) });
      expect(await sending.status).to.equal(401);
      await sending.closed;
    });

    it('without end is 413 at the limit, and the line is cut', async () => {
      const before = await countUploads(gateway);
      const sending = sendEndlessly({ ...authorization(), 'content-type': FORM_TYPE });
      expect(await sending.status).to.equal(413);
      await sending.closed;
      await untilUploadsAre(gateway, before);
    });
  });

  /** Sends bytes of a good file without end, until the server cuts the connection. */
  function sendEndlessly(headers: Record<string, string>) {
    const { hostname, port } = new URL(gateway.baseUrl);
    const sending = request({ hostname, port, method: 'POST', path: UPLOADS, headers, agent: false });
    const status = Promise.withResolvers<number>();
    const closed = Promise.withResolvers<void>();
    sending.on('response', (response) => {
      status.resolve(response.statusCode ?? 0);
      response.resume();
    });
    sending.on('error', () => undefined);
    sending.on('close', () => closed.resolve());
    sending.on('socket', (socket) => socket.on('close', () => closed.resolve()));
    const chunk = Buffer.alloc(16 * 1024, 7);
    const more = (): void => {
      while (!sending.destroyed && !sending.socket?.destroyed && sending.write(chunk));
    };
    sending.on('drain', more);
    sending.write(writePart({ ...video, content: makeVideo(50) }).subarray(0, -2));
    more();
    return { status: status.promise, closed: closed.promise };
  }

  describe('by its line', () => {
    /** Starts an upload that does not go on. */
    async function beginUpload(port: number): Promise<ClientRequest> {
      const headers = { ...authorization(), 'content-type': FORM_TYPE, 'content-length': '90000' };
      const sending = request({ port, method: 'POST', path: UPLOADS, headers, agent: false });
      sending.on('error', () => undefined);
      sending.write(writePart({ ...video, content: makeVideo(20_000) }));
      await until('its file has begun', async () =>
        (await filesIn(gateway)).some((name) => name.endsWith('.part')),
      );
      return sending;
    }

    it('that the caller cuts leaves nothing behind within five seconds', async () => {
      const before = await countUploads(gateway);
      const sending = await beginUpload(Number(new URL(gateway.baseUrl).port));
      sending.destroy();
      await untilUploadsAre(gateway, before);
    });

    it('that falls silent is 408, and leaves nothing behind', async () => {
      const before = await countUploads(gateway);
      const http: HttpServer = createHttpServer(createApp(gateway.services), {
        limits: { bodyStallMs: 400, checkEveryMs: 50 },
      });
      const port = await listen(http.server, 0, '127.0.0.1');
      try {
        const part = writePart({ ...video, content: makeVideo(500) });
        const head = `POST ${UPLOADS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${owner.apiKey}\r\n`;
        const text = `${head}content-type: ${FORM_TYPE}\r\ncontent-length: 9000\r\n\r\n${part.toString('latin1')}`;
        const { answers, closed }: Conversation = await converse(`http://127.0.0.1:${port}`, [text]);
        expect(answers.map(({ status }) => status)).to.deep.equal([408]);
        expect(JSON.parse(answers[0]?.body ?? '').error.code).to.equal('request_timeout');
        expect(closed).to.equal(true);
        await untilUploadsAre(gateway, before);
      } finally {
        http.server.closeAllConnections();
        await http.close();
      }
    });

    it('whose API is killed leaves an unfinished file, which the sweeper finds, and no row', async () => {
      const before = await countUploads(gateway);
      const api = await startApiProcess(gateway.env);
      const sending = await beginUpload(Number(new URL(api.baseUrl).port));
      await api.process.kill();
      sending.destroy();
      const incoming = join(gateway.config.dataDir, 'storage', '.incoming');
      expect(await readdir(incoming)).to.have.length(1);
      expect((await countUploads(gateway)).rows).to.equal(before.rows);
      await gateway.services.storage.removeUnfinished(new Date(Date.now() + 1_000));
      expect(await readdir(incoming)).to.deep.equal([]);
    });
  });
});

// Uploads from callers who mean no good, or whose line breaks: refused in words, at once, and nothing of them
// stays.
import { request, type ClientRequest } from 'node:http';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { createApp } from '../../../api/app.ts';
import { createHttpServer, type HttpServer } from '../../../api/http/http-server.ts';
import { listen } from '../../../runtime/listener.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { startApiProcess } from '../../support/servers/process.ts';
import { converse, sendRaw, type Conversation } from '../../support/http/raw.ts';
import {
  BOUNDARY,
  countUploads,
  filesIn,
  FORM_TYPE,
  makeForm,
  makeVideo,
  sendForm,
  upload,
  UPLOADS,
  writePart,
  type Part,
} from '../../support/uploads.ts';
import { until } from '../../support/until.ts';

const BYTES_MAX = 100_000;
const END = Buffer.from(`--${BOUNDARY}--\r\n`);
const video: Part = { filename: 'a.mp4', content: makeVideo() };

describe('an upload that is hostile or broken', function () {
  this.timeout(30_000);
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
  const expectStored = async (before: object): Promise<void> => {
    const isSame = async () => JSON.stringify(await countUploads(gateway)) === JSON.stringify(before);
    await until(`there is again ${JSON.stringify(before)}`, isSame, 5_000);
  };
  /** Sends a form and fails unless it is refused so, and nothing is stored. */
  const expectRefused = async (
    body: Buffer,
    [status, code]: readonly [number, string],
    headers: Record<string, string> = {},
  ): Promise<void> => {
    const before = await countUploads(gateway);
    expectError(await sendForm(owner.key, body, headers), status, code);
    await expectStored(before);
  };

  describe('as a form', () => {
    const good = makeForm(video);
    const cases: [
      what: string,
      body: Buffer,
      refusal: readonly [number, string],
      headers?: Record<string, string>,
    ][] = [
      [
        'a JSON body',
        Buffer.from('{}'),
        [415, 'unsupported_media_type'],
        { 'content-type': 'application/json' },
      ],
      ['no content type', good, [415, 'unsupported_media_type'], { 'content-type': '' }],
      [
        'a form of another kind',
        good,
        [415, 'unsupported_media_type'],
        { 'content-type': 'multipart/mixed; boundary=a' },
      ],
      ['a compressed form', good, [415, 'unsupported_media_type'], { 'content-encoding': 'gzip' }],
      ['no boundary', good, [400, 'invalid_multipart'], { 'content-type': 'multipart/form-data' }],
      [
        'an empty boundary',
        good,
        [400, 'invalid_multipart'],
        { 'content-type': 'multipart/form-data; boundary=""' },
      ],
      ['two boundaries', good, [400, 'invalid_multipart'], { 'content-type': `${FORM_TYPE}; boundary=b` }],
      [
        'a boundary of 3,000 characters',
        good,
        [400, 'invalid_multipart'],
        { 'content-type': `multipart/form-data; boundary=${'b'.repeat(3_000)}` },
      ],
      ['an empty body', Buffer.alloc(0), [400, 'invalid_multipart']],
      ['bytes that are no form', Buffer.alloc(5_000, 65), [400, 'invalid_multipart']],
      ['no part at all', END, [400, 'file_missing']],
      [
        'no file, but fields',
        makeForm({ name: 'file', type: 'text/plain', content: 'x' }),
        [400, 'file_missing'],
      ],
      ['a file under another name', makeForm({ ...video, name: 'video' }), [400, 'file_missing']],
      [
        'a file without a name',
        makeForm({ ...video, disposition: 'form-data; filename="a.mp4"' }),
        [400, 'invalid_multipart'],
      ],
      ['two files', makeForm(video, video), [400, 'too_many_parts']],
      [
        'a file and ten fields',
        makeForm(
          video,
          ...Array.from({ length: 10 }, (): Part => ({ name: 'x', type: 'text/plain', content: 'y' })),
        ),
        [400, 'too_many_parts'],
      ],
      [
        'fifty thousand parts',
        Buffer.concat([...Array.from({ length: 50_000 }, () => Buffer.from(`--${BOUNDARY}\r\n\r\n`)), END]),
        [413, 'file_too_large'],
      ],
      [
        'a thousand parts and then a file',
        Buffer.concat([
          ...Array.from({ length: 1_000 }, () => Buffer.from(`--${BOUNDARY}\r\nx: y\r\n\r\n\r\n`)),
          makeForm(video),
        ]),
        [400, 'too_many_parts'],
      ],
      [
        'a part header of 60 kB',
        makeForm({
          ...video,
          disposition: `form-data; name="file"; filename="a"; x="${'y'.repeat(60_000)}"`,
        }),
        [400, 'invalid_multipart'],
      ],
      [
        'a part header of 200 kB',
        makeForm({
          ...video,
          disposition: `form-data; name="file"; filename="a"; x="${'y'.repeat(200_000)}"`,
        }),
        [413, 'file_too_large'],
      ],
      [
        'a malformed part header',
        Buffer.concat([Buffer.from(`--${BOUNDARY}\r\nContent Disposition form-data\r\n\r\nx\r\n`), good]),
        [400, 'invalid_multipart'],
      ],
      [
        'a malformed header after the file',
        Buffer.concat([writePart(video), Buffer.from(`--${BOUNDARY}\r\nno header at all\r\n\r\nx\r\n`), END]),
        [400, 'invalid_multipart'],
      ],
      ['a file that is cut in the middle', writePart(video).subarray(0, -40), [400, 'invalid_multipart']],
      ['a form that ends after the file, without its end', writePart(video), [400, 'invalid_multipart']],
      ['an empty file', makeForm({ ...video, content: '' }), [400, 'empty_file']],
    ];
    for (const [what, body, refusal, headers] of cases)
      it(`with ${what} is ${refusal.join(' ')}`, () => expectRefused(body, refusal, headers));

    it('may have a preamble, an epilogue, four fields before or behind its file', async () => {
      const field: Part = { name: 'note', type: 'text/plain', content: 'x' };
      for (const body of [
        Buffer.concat([Buffer.from('this is ignored\r\n'), good, Buffer.from('and this'.repeat(100))]),
        makeForm(field, field, video, field, field),
      ]) {
        const { status } = await sendForm(owner.key, body);
        expect(status).to.equal(201);
      }
    });

    it('may come byte by byte', async () => {
      const head = `POST ${UPLOADS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${owner.apiKey}\r\n`;
      const text = `${head}content-type: ${FORM_TYPE}\r\ncontent-length: ${good.length}\r\nconnection: close\r\n\r\n`;
      const { hostname, port } = new URL(gateway.baseUrl);
      const socket = connect({ port: Number(port), host: hostname, noDelay: true });
      let received = '';
      socket.on('data', (data) => (received += String(data)));
      socket.write(text);
      for (const byte of good) {
        socket.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      await until('it is answered', async () => received.includes('\r\n\r\n'));
      expect(received).to.match(/^HTTP\/1\.1 201 /);
      socket.destroy();
    });
  });

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

  describe('by its name', () => {
    const names: [what: string, disposition: string | Buffer, shown: string][] = [
      ['a path', 'form-data; name="file"; filename="../../etc/passwd"', 'passwd'],
      ['a path of Windows', 'form-data; name="file"; filename="C:\\\\temp\\\\a.mp4"', 'a.mp4'],
      ['line breaks', 'form-data; name="file"; filename*=utf-8\'\'a%0D%0Ab.mp4', 'ab.mp4'],
      ['a NUL', 'form-data; name="file"; filename*=utf-8\'\'a%00b.mp4', 'ab.mp4'],
      [
        'marks that turn the text around',
        'form-data; name="file"; filename*=utf-8\'\'a%E2%80%AE4pm.exe',
        'a4pm.exe',
      ],
      ['nothing but dots', 'form-data; name="file"; filename=".."', 'file'],
      [
        'letters of all sorts',
        Buffer.from('form-data; name="file"; filename="Größe 猫.mp4"'),
        'Größe 猫.mp4',
      ],
      ['a path in percent signs', 'form-data; name="file"; filename*=utf-8\'\'..%2F..%2Fx.mp4', 'x.mp4'],
    ];
    for (const [what, disposition, shown] of names)
      it(`with ${what} is shown without harm`, async () => {
        const { status, body } = await sendForm(owner.key, makeForm({ ...video, disposition }));
        expect([status, body.data?.filename]).to.deep.equal([201, shown]);
        const answer = await fetch(body.data.url);
        expect(answer.headers.get('content-disposition')).not.to.match(/[\r\n\0/\\]/);
      });

    it('of 5,000 characters is cut to 255 bytes, and keeps its extension', async () => {
      const filename = `${'é'.repeat(5_000)}.mp4`;
      const { body } = await sendForm(owner.key, makeForm({ ...video, filename }));
      expect(body.data.filename).to.match(/^é+\.mp4$/);
      expect(Buffer.byteLength(body.data.filename)).to.be.within(250, 255);
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
      await expectStored(before);
    });
  });

  /** Bytes of a good file, without end, until the server cuts the line. */
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
    /** An upload that has begun and does not go on. */
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
      await expectStored(before);
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
        await expectStored(before);
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

describe('an upload of 100 MB', function () {
  this.timeout(60_000);
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());

  it('passes through without being kept in memory and without keeping others waiting', async () => {
    const api = await startApiProcess(gateway.env);
    const owner = await gateway.createUser(0);
    try {
      const chunk = Buffer.alloc(1024 * 1024, 7);
      async function* form(): AsyncGenerator<Buffer> {
        yield writePart({ ...video, content: makeVideo(50) }).subarray(0, -2);
        for (let sent = 0; sent < 100; sent += 1) yield chunk;
        yield Buffer.concat([Buffer.from('\r\n'), END]);
      }
      const waits: number[] = [];
      let isDone = false;
      const ask = async (): Promise<void> => {
        while (!isDone) {
          const askedAt = performance.now();
          await fetch(`${api.internalUrl}/livez`).then((answer) => answer.text());
          waits.push(performance.now() - askedAt);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      };
      const asking = ask();
      const init: RequestInit = {
        method: 'POST',
        body: ReadableStream.from(form()),
        duplex: 'half',
        headers: { authorization: `Bearer ${owner.apiKey}`, 'content-type': FORM_TYPE },
      };
      const answer = await fetch(`${api.baseUrl}${UPLOADS}`, init);
      isDone = true;
      await asking;
      expect(answer.status).to.equal(201);
      const { data } = (await answer.json()) as { data: { bytes: number } };
      expect(data.bytes).to.equal(50 + 100 * 1024 * 1024);
      waits.sort((one, other) => one - other);
      expect(waits[Math.floor(waits.length * 0.9)], JSON.stringify(waits)).to.be.below(100);
    } finally {
      await api.process.stop();
    }
  });
});

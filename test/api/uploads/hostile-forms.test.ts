// Malformed upload forms and hostile file names: refused or shown without harm, and nothing refused stays.
import { connect } from 'node:net';
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import {
  BOUNDARY,
  expectFormRefused,
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

describe('an upload whose form is hostile or broken', () => {
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

  const expectRefused = (
    body: Buffer,
    refusal: readonly [number, string],
    headers?: Record<string, string>,
  ): Promise<void> => expectFormRefused(gateway, owner.key, body, refusal, headers);

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
});

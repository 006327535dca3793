// GET /results/…: a signed link allows the download until it expires; without one, a caller learns nothing.
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { sendRaw, tellingHeaders, type RawAnswer } from '../../support/http/raw.ts';
import { untilFinal } from '../../support/until.ts';
import { signUrl } from '../../../storage/signed-urls.ts';

describe('GET /results', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let link: URL;
  let other: URL;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser();
    const generate = async (order: object): Promise<URL> => {
      const { body } = await owner.session.post('/api/tasks', order);
      return new URL((await untilFinal(owner.session, body.data.id)).outputUrl);
    };
    const prompt = '[[sandbox seconds=0]]';
    link = await generate({ mode: 'image', model: 'gpt-image-2', prompt });
    other = await generate({ mode: 'video', model: 'grok-imagine-video', prompt, duration: 1 });
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const read = (path: string, method = 'GET') =>
    sendRaw(gateway.baseUrl, { method, path, headers: { 'x-request-id': 'same' } });
  const sign = (path: string, expiresAt: Date): string => {
    const signed = signUrl({
      publicUrl: gateway.baseUrl,
      path,
      expiresAt,
      keys: gateway.secrets.signingKeys(),
    });
    return signed.slice(gateway.baseUrl.length);
  };
  const inAnHour = () => new Date(Date.now() + 3_600_000);
  /** The answer to a link with a signature that is not ours. */
  const unknown = () => read('/results/task_00000000000000000000000000/1/0.png');
  const expectUnknown = async (answer: RawAnswer, title: string): Promise<void> => {
    const reference = await unknown();
    expect(answer.status, title).to.equal(404);
    expect(answer.text, title).to.equal(reference.text);
    expect(tellingHeaders(answer), title).to.deep.equal(tellingHeaders(reference));
  };

  it('hands the file out as an attachment that no browser interprets', async () => {
    for (const [url, type] of [
      [link, 'image/png'],
      [other, 'video/mp4'],
    ] as const) {
      expect(url.origin).to.equal(gateway.baseUrl);
      const response = await fetch(url);
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.equal(type);
      expect(response.headers.get('content-disposition')).to.match(/^attachment; filename="?0\.\w+"?$/);
      expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
      expect(response.headers.get('content-security-policy')).to.contain("default-src 'none'");
      const [, seconds] =
        /^private, max-age=(\d+), immutable$/.exec(response.headers.get('cache-control') ?? '') ?? [];
      const left = Number(url.searchParams.get('expires')) - Date.now() / 1000;
      expect(Number(seconds), 'until the link ends').to.be.within(left - 5, left + 5);
      const { byteLength } = await response.arrayBuffer();
      expect(response.headers.get('content-length')).to.equal(String(byteLength));
    }
  });

  it('names the file by a strong tag, which is honoured in `If-None-Match` and `If-Range`', async () => {
    const first = await fetch(link);
    const etag = first.headers.get('etag') ?? '';
    const bytes = Buffer.from(await first.arrayBuffer());
    expect(etag).to.match(/^"[0-9a-f]{32}"$/);
    expect((await fetch(other)).headers.get('etag'), 'of another file').not.to.equal(etag);
    for (const tags of [etag, `W/${etag}`, `"a", ${etag}`, '*']) {
      const unchanged = await fetch(link, { headers: { 'if-none-match': tags, range: 'bytes=0-9' } });
      expect(unchanged.status, tags).to.equal(304);
      expect(unchanged.headers.get('etag'), tags).to.equal(etag);
      expect(unchanged.headers.get('cache-control'), tags).to.contain('immutable');
      expect(await unchanged.text(), tags).to.equal('');
    }
    expect((await fetch(link, { headers: { 'if-none-match': '"a"' } })).status).to.equal(200);
    const part = await fetch(link, { headers: { 'if-range': etag, range: 'bytes=0-9' } });
    expect(part.status).to.equal(206);
    expect(Buffer.from(await part.arrayBuffer())).to.deep.equal(bytes.subarray(0, 10));
    for (const ifRange of ['"a"', `W/${etag}`, 'Tue, 24 Nov 2026 10:00:00 GMT']) {
      const whole = await fetch(link, { headers: { 'if-range': ifRange, range: 'bytes=0-9' } });
      expect(whole.status, ifRange).to.equal(200);
      expect(Buffer.from(await whole.arrayBuffer()), ifRange).to.deep.equal(bytes);
    }
  });

  it('answers 416 with the size for a range outside the file', async () => {
    const { length } = Buffer.from(await (await fetch(link)).arrayBuffer());
    const { status, headers } = await fetch(link, { headers: { range: `bytes=${length}-` } });
    expect([status, headers.get('content-range')]).to.deep.equal([416, `bytes */${length}`]);
  });

  it('answers HEAD with the same headers and no body', async () => {
    const { status, headers, text } = await read(link.pathname + link.search, 'HEAD');
    expect(status).to.equal(200);
    expect(headers['content-length']).to.match(/^[1-9]\d+$/);
    expect(text).to.equal('');
  });

  it('knows no other method', async () => {
    const answer = await read(link.pathname + link.search, 'DELETE');
    expect(answer.status).to.equal(405);
    expect(answer.headers.allow).to.equal('GET, HEAD');
  });

  it('answers 404 file_not_found to a link nobody signed', async () => {
    const { status, text } = await unknown();
    expect(status).to.equal(404);
    expect(JSON.parse(text).error).to.deep.equal({
      message: 'There is no such file, or its link has expired.',
      type: 'not_found_error',
      param: null,
      code: 'file_not_found',
      request_id: 'same',
    });
  });

  it('answers the same to every link that was changed', async () => {
    const { pathname, search, searchParams } = link;
    const expires = searchParams.get('expires') ?? '';
    const signature = searchParams.get('signature') ?? '';
    const flipped = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1);
    const changed: Record<string, string> = {
      'no signature': pathname,
      'another signature': `${pathname}?expires=${expires}&signature=${flipped}`,
      'a shorter signature': `${pathname}?expires=${expires}&signature=${signature.slice(0, -1)}`,
      'an empty signature': `${pathname}?expires=${expires}&signature=`,
      'a later expiry': `${pathname}?expires=${Number(expires) + 1}&signature=${signature}`,
      'no expiry': `${pathname}?signature=${signature}`,
      'an expiry in words': `${pathname}?expires=never&signature=${signature}`,
      'an earlier expiry put in front': `${pathname}?expires=1&expires=${expires}&signature=${signature}`,
      'another file of the same task': `${pathname.replace('0.png', '1.png')}${search}`,
      'another attempt': `${pathname.replace('/1/', '/2/')}${search}`,
      'another task': `${other.pathname}${search}`,
      'the signature of another file': `${pathname}${other.search}`,
      'another spelling of the path': `${pathname.replace('0.png', '%30.png')}${search}`,
      'capital letters in the path': `${pathname.replace('/results/', '/RESULTS/')}${search}`,
    };
    for (const [title, path] of Object.entries(changed)) await expectUnknown(await read(path), title);
  });

  it('answers the same to a link that has expired', async () => {
    const past = new Date(Date.now() - 1_000);
    await expectUnknown(await read(sign(link.pathname, past)), 'a second ago');
    await expectUnknown(await read(sign(link.pathname, new Date(0))), 'long ago');
    expect((await read(sign(link.pathname, inAnHour()))).status, 'the same link in time').to.equal(200);
  });

  it('answers the same to a good signature of a file that is not there', async () => {
    await expectUnknown(
      await read(sign('/results/task_00000000000000000000000000/1/0.png', inAnHour())),
      'task',
    );
    await expectUnknown(await read(sign(link.pathname.replace('0.png', '9.png'), inAnHour())), 'index');
  });

  it('leads nowhere else, whatever the path says', async () => {
    const secret = encodeURIComponent('../../../../../../etc/passwd');
    const paths = [
      '/results/../1/passwd',
      '/results/%2e%2e/%2e%2e/passwd',
      '/results/..%2f..%2f..%2f..%2fetc/1/passwd',
      `/results/a/1/${secret}`,
      '/results/a/1/..%5c..%5cpasswd',
      '/results/a/1/0.png%00.html',
    ];
    for (const path of paths) {
      await expectUnknown(await read(path + link.search), path);
      const signed = await read(sign(path, inAnHour()));
      expect(signed.status, `signed ${path}`).to.equal(404);
      expect(signed.text, `signed ${path}`).not.to.contain('root:');
    }
  });

  it('needs no proof but the signature, and takes none instead', async () => {
    const { status } = await owner.key.get(link.pathname);
    expect(status).to.equal(404);
    expect((await owner.session.get(link.pathname)).status).to.equal(404);
  });
});

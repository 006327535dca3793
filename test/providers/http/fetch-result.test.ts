// Fetching results: whole files come through, everything else surfaces as a failure with a class.
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { fetchResult, type FetchOptions } from '../../../providers/http/fetch-result.ts';
import type { Provider } from '../../../providers/provider.ts';
import { failureOf, sendEndlessly, startStandIn, verdictOf, type Play, type StandIn } from '../stand-in.ts';

describe('fetching a result', () => {
  let standIn: StandIn;
  let play: Play = (res) => res.end();

  before(async () => {
    standIn = await startStandIn((res, req) => play(res, req));
  });
  after(() => standIn.close());

  const handle = { id: 'job-1', credential: 'default' };
  const provider: Provider = {
    name: 'some-adapter',
    family: 'some-family',
    delivery: 'job',
    credentialsFor: () => ['default'],
    submit: () => Promise.reject(new Error('not part of this test')),
    trustsOrigin: (url) => url.origin === standIn.url,
  };

  function fetchUrl(url = `${standIn.url}/video.mp4`, changes: Partial<FetchOptions> = {}) {
    return fetchResult(provider, { kind: 'url', url }, { handle, bytesMax: 1_000_000, ...changes });
  }

  async function download(changes: Partial<FetchOptions> = {}): Promise<Buffer> {
    return buffer((await fetchUrl(undefined, changes)).stream);
  }

  it('hands out inline bytes as they are', async () => {
    const bytes = Buffer.from('picture');
    const fetched = await fetchResult(provider, { kind: 'inline', bytes }, { handle, bytesMax: 7 });
    expect(fetched.bytes).to.equal(7);
    expect((await buffer(fetched.stream)).toString()).to.equal('picture');
  });

  it('refuses inline bytes beyond the limit', async () => {
    const result = { kind: 'inline', bytes: Buffer.from('picture') } as const;
    const failure = await failureOf(fetchResult(provider, result, { handle, bytesMax: 6 }));
    expect(verdictOf(failure)).to.equal('invalid_response, refused');
  });

  it('streams a file of announced length', async () => {
    play = (res) => res.writeHead(200, { 'content-length': '5' }).end('video');
    const fetched = await fetchUrl();
    expect(fetched.bytes).to.equal(5);
    expect((await buffer(fetched.stream)).toString()).to.equal('video');
  });

  it('streams a file of unknown length', async () => {
    play = (res) => {
      res.write('vid');
      res.end('eo');
    };
    const fetched = await fetchUrl();
    expect(fetched.bytes).to.equal(null);
    expect((await buffer(fetched.stream)).toString()).to.equal('video');
  });

  const statuses: Record<number, string> = {
    204: 'invalid_response, refused',
    304: 'invalid_response, refused',
    400: 'expired, refused',
    401: 'expired, refused',
    403: 'expired, refused',
    404: 'expired, refused',
    410: 'expired, refused',
    418: 'invalid_response, refused',
    429: 'transient, not_received',
    500: 'transient, not_received',
    503: 'transient, not_received',
  };
  for (const [status, verdict] of Object.entries(statuses)) {
    it(`is ${verdict} for ${status}`, async () => {
      play = (res) => res.writeHead(Number(status)).end();
      expect(verdictOf(await failureOf(fetchUrl()))).to.equal(verdict);
    });
  }

  for (const url of [
    'http://169.254.169.254/latest/',
    'https://127.0.0.1/',
    'javascript:alert(1)',
    'nonsense',
  ]) {
    it(`is invalid_response for ${url}`, async () => {
      expect(verdictOf(await failureOf(fetchUrl(url)))).to.equal('invalid_response, refused');
    });
  }

  it('is invalid_response when the file is announced larger than allowed', async () => {
    play = (res) => res.writeHead(200, { 'content-length': '2000000' }).end('x');
    expect(verdictOf(await failureOf(fetchUrl()))).to.equal('invalid_response, refused');
  });

  it('is invalid_response when the file is compressed although nobody asked for it', async () => {
    play = (res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
    expect(verdictOf(await failureOf(fetchUrl()))).to.equal('invalid_response, refused');
  });

  it('cuts a file that never ends, and the vendor’s connection with it', async () => {
    const closed = new Promise((resolve) => {
      play = (res) => {
        res.once('close', resolve);
        sendEndlessly(res.writeHead(200));
      };
    });
    expect(verdictOf(await failureOf(download()))).to.equal('invalid_response, refused');
    await closed;
  });

  it('is transient when the file is cut short', async () => {
    play = (res) => {
      res.writeHead(200, { 'content-length': '100' });
      res.write('half', () => res.destroy());
    };
    expect(verdictOf(await failureOf(download()))).to.equal('transient, not_received');
  });

  it('is transient when a file of unknown length is cut short', async () => {
    play = (res) => res.write('half', () => res.destroy());
    expect(verdictOf(await failureOf(download()))).to.equal('transient, not_received');
  });

  it('is transient when nobody answers, or stops in the middle', async () => {
    play = () => undefined;
    expect(verdictOf(await failureOf(download({ silenceMs: 300 })))).to.equal('transient, not_received');
    play = (res) => res.writeHead(200).write('half');
    expect(verdictOf(await failureOf(download({ silenceMs: 300 })))).to.equal('transient, not_received');
  });

  it('is transient when a byte now and then takes too long in all', async () => {
    play = (res) => {
      const timer = setInterval(() => res.write('x'), 10);
      res.once('close', () => clearInterval(timer));
    };
    expect(verdictOf(await failureOf(download({ timeoutMs: 100 })))).to.equal('transient, not_received');
  });

  it('lets go of the vendor’s connection when the reader loses interest before the first byte', async () => {
    const closed = new Promise((resolve) => {
      play = (res) => {
        res.once('close', resolve);
        sendEndlessly(res.writeHead(200));
      };
    });
    (await fetchUrl()).stream.destroy();
    await closed;
  });

  it('ends when the caller aborts', async () => {
    const controller = new AbortController();
    play = (res) => res.writeHead(200).write('half', () => controller.abort());
    expect(verdictOf(await failureOf(download({ signal: controller.signal })))).to.equal(
      'transient, not_received',
    );
  });
});

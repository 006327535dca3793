// Posting to a foreign address: public ones only, looked up once, and nothing is written that may not be.
import { createServer as createSocketServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import type { buildConnector } from 'undici';
import { postOutside, type PostOptions } from '../../../providers/http/post-outside.ts';

describe('postOutside', () => {
  let server: Server;
  let port: number;
  let written: string;
  let sockets: Socket[];
  let answer: (socket: Socket) => void;

  before(async () => {
    server = createSocketServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        written += bytes.toString('latin1');
        answer(socket);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  after(() => server.close());
  beforeEach(() => {
    written = '';
    sockets = [];
    answer = (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
  });
  afterEach(() => sockets.forEach((socket) => socket.destroy()));

  const post = (url: string, options: Partial<PostOptions> = {}) =>
    postOutside(url, {
      ...{ headers: { 'x-a': 'b' }, body: '{}', trustsOrigin: ({ hostname }) => hostname === '127.0.0.1' },
      ...{ timeoutMs: 300, answerBytesMax: 10, answerMs: 100, beforeWrite: (write) => write() },
      ...options,
    });
  const local = () => `http://127.0.0.1:${port}/`;

  it('posts the body and reads the beginning of the answer', async () => {
    answer = (socket) => socket.end('HTTP/1.1 201 Created\r\ncontent-length: 20\r\n\r\n01234567890123456789');
    expect(await post(local())).to.deep.equal({ kind: 'answered', status: 201, body: '0123456789' });
    expect(written)
      .to.match(/^POST \/ HTTP/)
      .and.to.match(/\{\}$/);
  });

  it('follows no redirect', async () => {
    answer = (socket) =>
      socket.end(`HTTP/1.1 302 Found\r\nlocation: ${local()}\r\ncontent-length: 0\r\n\r\n`);
    expect(await post(local())).to.deep.include({ kind: 'answered', status: 302 });
    expect(sockets).to.have.length(1);
  });

  for (const [what, url] of [
    ['plain http to a public name', 'http://example.com/'],
    ['a private address', 'https://192.168.1.1/'],
    ['the metadata of a cloud', 'https://169.254.169.254/'],
    ['another port', 'https://example.com:444/'],
  ] as const)
    it(`refuses ${what}`, async () => {
      expect(await post(url)).to.deep.equal({ kind: 'address_refused' });
    });

  it('refuses a name with a private address among others', async () => {
    const resolve = () => Promise.resolve(['93.184.216.34', '10.0.0.1']);
    expect(await post('https://example.com/', { resolve })).to.deep.equal({ kind: 'address_refused' });
  });

  it('looks a name up once, so that a second look with another answer cannot happen', async () => {
    let looks = 0;
    const resolve = () => Promise.resolve([(looks += 1) === 1 ? '93.184.216.34' : '127.0.0.1']);
    const asked: string[] = [];
    const connect: buildConnector.connector = ({ hostname }, callback) => {
      asked.push(hostname);
      callback(new Error('no network'), null);
    };
    expect(await post('https://example.com/', { resolve, connect })).to.deep.equal({ kind: 'unreachable' });
    expect({ looks, asked }).to.deep.equal({ looks: 1, asked: ['93.184.216.34'] });
  });

  it('gives up a receiver that is silent, or slow byte by byte, in time', async () => {
    answer = () => undefined;
    expect(await post(local())).to.deep.equal({ kind: 'timeout' });
    answer = (socket) => void socket.write('H');
    expect(await post(local())).to.deep.equal({ kind: 'timeout' });
  });

  it('says that there was no connection, or that it broke', async () => {
    expect(await post('http://127.0.0.1:1/')).to.deep.equal({ kind: 'unreachable' });
    answer = (socket) => socket.destroy();
    expect(await post(local())).to.deep.equal({ kind: 'unreachable' });
  });

  it('writes nothing when it may not', async () => {
    expect(await post(local(), { beforeWrite: async () => undefined })).to.deep.equal({ kind: 'withheld' });
    expect(written).to.equal('');
  });

  it('writes nothing and throws when it cannot know whether it may', async () => {
    const away = new Error('the database is away');
    const thrown = await post(local(), { beforeWrite: () => Promise.reject(away) }).then(
      String,
      (e: unknown) => e,
    );
    expect(thrown).to.equal(away);
    expect(written).to.equal('');
  });

  it('has written all of it when the permission ends', async () => {
    let writtenInside = 0;
    answer = (socket) => {
      if (written.endsWith('{}')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    };
    const beforeWrite = async (write: () => Promise<void>) => {
      await write();
      writtenInside = 1;
    };
    expect(await post(local(), { beforeWrite })).to.deep.include({ kind: 'answered', status: 200 });
    expect(writtenInside).to.equal(1);
  });
});

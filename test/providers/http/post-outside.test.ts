// Posting to a foreign address: public ones only, looked up once, and nothing is written that may not be. A
// connection is kept for the next request to the same receiver.
import {
  connect as openSocket,
  createServer as createSocketServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { expect } from 'chai';
import type { buildConnector } from 'undici';
import type { Resolve } from '../../../providers/http/address-guard.ts';
import { until } from '../../support/until.ts';
import { createPostOutside, type PostOptions } from '../../../providers/http/post-outside.ts';

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

  const trustsOrigin = ({ hostname }: URL): boolean => hostname === '127.0.0.1';
  const options: PostOptions = {
    ...{ headers: { 'x-a': 'b' }, body: '{}', receiver: 'one', timeoutMs: 300 },
    ...{ answerBytesMax: 10, answerMs: 100, beforeWrite: (write) => write() },
  };
  const post = (url: string, own: Partial<PostOptions> = {}) =>
    createPostOutside({ trustsOrigin })(url, { ...options, ...own });
  const postTo = (url: string, network: { resolve: Resolve; connect?: buildConnector.connector }) =>
    createPostOutside({ trustsOrigin, ...network })(url, options);
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
    expect(await postTo('https://example.com/', { resolve })).to.deep.equal({ kind: 'address_refused' });
  });

  it('looks a name up once, so that a second look with another answer cannot happen', async () => {
    let looks = 0;
    const resolve = () => Promise.resolve([(looks += 1) === 1 ? '93.184.216.34' : '127.0.0.1']);
    const asked: string[] = [];
    const connect: buildConnector.connector = ({ hostname }, callback) => {
      asked.push(hostname);
      callback(new Error('no network'), null);
    };
    expect(await postTo('https://example.com/', { resolve, connect })).to.deep.equal({ kind: 'unreachable' });
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

  describe('over a connection that is kept', () => {
    const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
    const answered = { kind: 'answered', status: 200, body: 'ok' };
    let postKept: ReturnType<typeof createPostOutside>;
    beforeEach(() => {
      postKept = createPostOutside({ trustsOrigin });
      answer = (socket) => void socket.write(OK);
    });

    it('sends the next request to the same receiver, one after the other', async () => {
      for (let posts = 0; posts < 5; posts += 1)
        expect(await postKept(local(), options)).to.deep.equal(answered);
      expect(sockets).to.have.length(1);
      expect(written.match(/^POST|\{\}POST/g)).to.have.length(5);
      await Promise.all([postKept(local(), options), postKept(local(), options)]);
      expect(sockets, 'each connection has one request at a time').to.have.length(2);
    });

    it('sends nothing to another receiver, at another port, or by another name', async () => {
      await postKept(local(), options);
      await postKept(local(), { ...options, receiver: 'another' });
      expect(sockets).to.have.length(2);
      expect(await postKept('http://127.0.0.1:1/', options)).to.deep.equal({ kind: 'unreachable' });
      await postKept(`http://localhost:${port}/`, options).then(({ kind }) =>
        expect(kind, 'it is a name to be checked').to.equal('address_refused'),
      );
      expect(sockets).to.have.length(2);
    });

    it('looks the name up and checks its addresses again for the next connection', async () => {
      const answers = [['93.184.216.34'], ['10.0.0.1']];
      const resolve = async () => answers.shift() ?? [];
      const connect: buildConnector.connector = (_, callback) => {
        const socket = openSocket(port, '127.0.0.1', () => callback(null, socket));
        Object.defineProperty(socket, 'remoteAddress', { value: '93.184.216.34' });
      };
      const guarded = createPostOutside({ trustsOrigin, resolve, connect });
      for (let posts = 0; posts < 2; posts += 1)
        expect(await guarded('https://example.com/', options)).to.deep.equal(answered);
      expect(answers, 'looked up once').to.have.length(1);
      sockets.forEach((socket) => socket.destroy());
      await until('it is closed', async () => sockets.every(({ closed }) => closed));
      expect(await guarded('https://example.com/', options)).to.deep.equal({ kind: 'address_refused' });
    });

    for (const [when, end] of [
      ['closes it', (socket: Socket) => socket.end()],
      ['resets it', (socket: Socket) => socket.resetAndDestroy()],
    ] as const)
      it(`sends once more, with a new permission, when the receiver ${when} at the next request`, async () => {
        await postKept(local(), options);
        answer = (socket) => {
          if (socket === sockets[0]) end(socket);
          else socket.end(OK);
        };
        let permissions = 0;
        const beforeWrite = async (write: () => Promise<void>) => {
          permissions += 1;
          await write();
        };
        expect(await postKept(local(), { ...options, beforeWrite })).to.deep.equal(answered);
        expect({ permissions, opened: sockets.length }).to.deep.equal({ permissions: 2, opened: 2 });
      });

    it('does not send once more without a permission', async () => {
      await postKept(local(), options);
      answer = (socket) => socket.resetAndDestroy();
      let permissions = 0;
      const beforeWrite = async (write: () => Promise<void>) => {
        permissions += 1;
        if (permissions === 1) await write();
      };
      expect(await postKept(local(), { ...options, beforeWrite })).to.deep.equal({ kind: 'withheld' });
      expect(written.match(/POST/g), 'the first, and the one that may have come').to.have.length(2);
    });

    it('waits for a silent receiver no longer, and does not send once more', async () => {
      await postKept(local(), options);
      answer = () => undefined;
      expect(await postKept(local(), options)).to.deep.equal({ kind: 'timeout' });
      expect(sockets).to.have.length(1);
    });

    it('is none when its answer was not read to the end, or says so', async () => {
      for (const last of [
        'HTTP/1.1 200 OK\r\ncontent-length: 30\r\n\r\n012345678901234567890123456789',
        'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n',
        'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok',
      ]) {
        answer = (socket) => void socket.write(last);
        const opened = sockets.length;
        await postKept(local(), options);
        await postKept(local(), options);
        expect(sockets, last).to.have.length(opened + 2);
        sockets.forEach((socket) => socket.destroy());
      }
    });

    it('ends with the attempt that is cut', async () => {
      await postKept(local(), options);
      answer = () => undefined;
      const cutting = new AbortController();
      const posted = postKept(local(), { ...options, signal: cutting.signal });
      await until('it was sent', async () => written.match(/POST/g)?.length === 2);
      cutting.abort();
      expect(await posted).to.deep.equal({ kind: 'unreachable' });
      await until('it is closed', async () => sockets.every(({ closed }) => closed));
    });
  });
});

// Downloading through the guard: redirects and names that lead to private addresses open no connection.
import { connect as openSocket } from 'node:net';
import { expect } from 'chai';
import type { buildConnector } from 'undici';
import { AddressRefused } from '../../../providers/http/address-guard.ts';
import {
  downloadFromOutside,
  DownloadFailed,
  type DownloadOptions,
} from '../../../providers/http/download.ts';
import { startStandIn, type Play, type StandIn } from '../stand-in.ts';

describe('the address guard', () => {
  describe('downloading', () => {
    let trusted: StandIn;
    let canary: StandIn;
    let play: Play = (res) => res.end('x');

    before(async () => {
      trusted = await startStandIn((res, req) => play(res, req));
      canary = await startStandIn((res) => res.end('secret'));
    });
    after(() => Promise.all([trusted.close(), canary.close()]));
    afterEach(() => expect(canary.connections(), 'connections to the private service').to.equal(0));

    function options(changes: Partial<DownloadOptions> = {}): DownloadOptions {
      return {
        trustsOrigin: (url) => url.origin === trusted.url,
        bytesMax: 1_000,
        timeoutMs: 5_000,
        silenceMs: 5_000,
        ...changes,
      };
    }

    async function errorOf(url: string, changes: Partial<DownloadOptions> = {}): Promise<unknown> {
      return downloadFromOutside(url, options(changes)).then(
        ({ stream }) => stream.destroy(),
        (error: unknown) => error,
      );
    }

    it('follows up to three redirects', async () => {
      play = (res, { path }) => {
        const hop = Number(path.slice(1));
        if (hop === 3) res.end('here');
        else res.writeHead(302, { location: `/${hop + 1}` }).end();
      };
      const { status, stream } = await downloadFromOutside(`${trusted.url}/0`, options());
      expect(status).to.equal(200);
      expect((await stream.toArray()).join('')).to.equal('here');
      expect(await errorOf(`${trusted.url}/-1`)).to.be.instanceOf(AddressRefused);
    });

    for (const status of [301, 302, 303, 307, 308]) {
      it(`does not follow a ${status} to a private address, a private name, or a private literal`, async () => {
        const port = new URL(canary.url).port;
        const targets = [
          `${canary.url}/`,
          `https://127.0.0.1:${port}/`,
          'https://127.0.0.1/',
          'https://inside.example.com/',
        ];
        for (const location of targets) {
          play = (res) => res.writeHead(status, { location }).end();
          const error = await errorOf(trusted.url, { resolve: async () => ['127.0.0.1'] });
          expect(error, location).to.be.instanceOf(AddressRefused);
        }
      });
    }

    it('refuses a name that resolves inside at the second hop only', async () => {
      play = (res) => res.writeHead(302, { location: 'https://turn.example.com/' }).end();
      const asked: string[] = [];
      const resolve = async (hostname: string): Promise<string[]> => {
        asked.push(hostname);
        return ['169.254.169.254'];
      };
      expect(await errorOf(trusted.url, { resolve })).to.be.instanceOf(AddressRefused);
      expect(asked).to.deep.equal(['turn.example.com']);
    });

    /** Sockets that claim to have arrived at a public address, and lead to the stand-in. */
    const connect: buildConnector.connector = (_options, callback) => {
      const socket = openSocket(Number(new URL(trusted.url).port), '127.0.0.1');
      socket.once('error', (error) => callback(error, null));
      socket.once('connect', () => {
        Object.defineProperty(socket, 'remoteAddress', { value: '8.8.8.8' });
        callback(null, socket);
      });
    };

    it('does not follow https to http, and never trusts a public host on the way', async () => {
      const resolve = async (): Promise<string[]> => ['8.8.8.8'];
      for (const location of ['http://cdn.example.com/', 'http://8.8.8.8/', '//127.0.0.1/', canary.url]) {
        play = (res) => res.writeHead(302, { location }).end();
        const error = await errorOf('https://cdn.example.com/a.png', { resolve, connect });
        expect(error, location).to.be.instanceOf(AddressRefused);
      }
    });

    it('refuses a name that turns inside between two redirects', async () => {
      const answers = [['8.8.8.8'], ['8.8.8.8'], ['10.0.0.1']];
      const asked: string[] = [];
      const resolve = async (hostname: string): Promise<string[]> => {
        asked.push(hostname);
        return answers.shift() ?? [];
      };
      play = (res, { path }) => {
        res.writeHead(307, { location: `https://turn.example.com${path}x`, connection: 'close' }).end();
      };
      const error = await errorOf('https://turn.example.com/', { resolve, connect });
      expect(error).to.be.instanceOf(AddressRefused);
      expect(asked.length).to.equal(3);
    });

    it('sends nothing but plain headers', async () => {
      play = (res) => res.end();
      await errorOf(trusted.url);
      const names = Object.keys(trusted.received.at(-1)?.headers ?? {}).sort();
      expect(names).to.deep.equal(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
    });

    it('calls a name that does not exist trouble', async () => {
      const error = await errorOf('https://nobody.example.com/', {
        resolve: async () => Promise.reject(new Error('ENOTFOUND')),
      });
      expect(error).to.be.instanceOf(DownloadFailed).and.to.have.property('reason', 'network');
    });
  });
});

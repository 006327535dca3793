// The guard: which URLs and addresses are refused, that nothing is opened to them, and that names cannot be
// turned round.
import { connect as openSocket, Socket } from 'node:net';
import { expect } from 'chai';
import { Agent, request, type buildConnector } from 'undici';
import {
  AddressRefused,
  checkOutsideUrl,
  guardedConnector,
  isPublicAddress,
} from '../../../providers/http/address-guard.ts';
import {
  downloadFromOutside,
  DownloadFailed,
  type DownloadOptions,
} from '../../../providers/http/download.ts';
import { startStandIn, type Play, type StandIn } from '../stand-in.ts';

const trustsNobody = (): boolean => false;

/** One of every class that IANA keeps for something else than the public internet. */
const SPECIAL_ADDRESSES = [
  ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1'],
  ...['172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.51.100.1'],
  ...['203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...[
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
  ],
  ...[
    '100::1',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '3fff::1',
  ],
  ...['5f00::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1'],
];

describe('the address guard', () => {
  it('allows ordinary public addresses only', () => {
    const allowed = ['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111'];
    expect(allowed.filter((address) => !isPublicAddress(address))).to.deep.equal([]);
    expect(SPECIAL_ADDRESSES.filter(isPublicAddress)).to.deep.equal([]);
    expect(['', 'localhost', '8.8.8', '134744072', '8.8.8.8/0'].filter(isPublicAddress)).to.deep.equal([]);
  });

  describe('reading a URL', () => {
    const refused = [
      ...[
        'http://example.com/a.png',
        'ftp://example.com/a',
        'file:///etc/passwd',
        'javascript:alert(1)',
        'data:,x',
      ],
      ...[
        'https://example.com:8443/a',
        'https://example.com:80/a',
        'https://user@example.com/',
        'https://u:p@example.com/',
      ],
      ...[
        'https://localhost/',
        'https://a.localhost/',
        'https://db.internal/',
        'https://printer.local/',
        'https://postgres/',
      ],
      ...['https://example.com./', 'https://LOCALHOST/', 'not a url', '', '/relative', 'https://'],
      ...[
        'https://127.1/',
        'https://0x7f000001/',
        'https://2130706433/',
        'https://0177.0.0.1/',
        'https://１２７.0.0.1/',
      ],
      ...[
        'https://①②⑦.⓪.⓪.①/',
        'https:\\\\127.0.0.1\\',
        'https://[::1]/',
        'https://[::ffff:10.0.0.1]/',
        'https://169.254.169.254/',
      ],
      `https://example.com/${'a'.repeat(2_048)}`,
    ];
    for (const url of refused) {
      it(`refuses ${url.slice(0, 60) || 'an empty text'}`, () => {
        expect(() => checkOutsideUrl(url, trustsNobody)).to.throw(AddressRefused);
      });
    }

    it('allows https on its own port', () => {
      for (const url of ['https://example.com/a.png?x=1', 'https://example.com:443/', 'https://8.8.8.8/'])
        expect(checkOutsideUrl(url, trustsNobody).protocol).to.equal('https:');
    });

    it('allows the operator’s own origin whatever its scheme, host and port, but no user name in it', () => {
      const trusts = (url: URL): boolean => url.origin === 'http://127.0.0.1:9999';
      expect(checkOutsideUrl('http://127.0.0.1:9999/a', trusts).port).to.equal('9999');
      expect(() => checkOutsideUrl('http://127.0.0.1:9998/a', trusts)).to.throw(AddressRefused);
      expect(() => checkOutsideUrl('http://u:p@127.0.0.1:9999/a', trusts)).to.throw(AddressRefused);
    });

    it('never says why', () => {
      const message = (url: string): string => {
        try {
          checkOutsideUrl(url, trustsNobody);
        } catch (error) {
          return String(error);
        }
        return 'allowed';
      };
      expect(new Set(refused.map(message)).size).to.equal(1);
    });
  });

  describe('opening a socket', () => {
    /**
     * Opens nothing; remembers where it would have gone, and hands out a socket that claims to have arrived
     * there.
     */
    function recorder(remoteAddress?: string) {
      const opened: buildConnector.Options[] = [];
      const connect: buildConnector.connector = (options, callback) => {
        opened.push(options);
        const socket = new Socket();
        Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress ?? options.hostname });
        callback(null, socket);
      };
      return { opened, connect };
    }

    function open(
      hostname: string,
      resolve: (hostname: string) => Promise<readonly string[]>,
      connect: buildConnector.connector,
    ): Promise<unknown> {
      return new Promise((fulfil) => {
        const options = { hostname, host: hostname, protocol: 'https:', port: '443' };
        guardedConnector(resolve, connect)(options, (...outcome) => fulfil(outcome[0]));
      });
    }

    it('goes to the address that was checked, with the name for TLS alone', async () => {
      const { opened, connect } = recorder();
      expect(await open('cdn.example.com', async () => ['8.8.8.8'], connect)).to.equal(null);
      expect(opened.map(({ hostname, servername }) => [hostname, servername])).to.deep.equal([
        ['8.8.8.8', 'cdn.example.com'],
      ]);
    });

    it('asks for a name once, so that a second answer cannot lead elsewhere', async () => {
      const answers = [['8.8.8.8'], ['127.0.0.1']];
      const { opened, connect } = recorder();
      await open('turn.example.com', async () => answers.shift() ?? [], connect);
      expect(opened.map(({ hostname }) => hostname)).to.deep.equal(['8.8.8.8']);
      expect(await open('turn.example.com', async () => answers.shift() ?? [], connect)).to.be.instanceOf(
        AddressRefused,
      );
      expect(opened.length).to.equal(1);
    });

    it('opens nothing when any one of the addresses is not public', async () => {
      for (const address of SPECIAL_ADDRESSES) {
        const { opened, connect } = recorder();
        const error = await open('mixed.example.com', async () => ['8.8.8.8', address], connect);
        expect(error, address).to.be.instanceOf(AddressRefused);
        expect(opened, address).to.deep.equal([]);
      }
    });

    it('opens nothing to a literal address that is not public, for which nobody looks up a name', async () => {
      for (const address of SPECIAL_ADDRESSES) {
        const { opened, connect } = recorder();
        const error = await open(address, async () => ['8.8.8.8'], connect);
        expect(error, address).to.be.instanceOf(AddressRefused);
        expect(opened, address).to.deep.equal([]);
      }
    });

    it('drops a socket that arrived somewhere else', async () => {
      const { connect } = recorder('127.0.0.1');
      expect(await open('cdn.example.com', async () => ['8.8.8.8'], connect)).to.be.instanceOf(
        AddressRefused,
      );
    });

    it('tries the next address when one does not answer', async () => {
      const tried: string[] = [];
      const connect: buildConnector.connector = ({ hostname }, callback) => {
        tried.push(hostname);
        callback(new Error('refused'), null);
      };
      const error = await open('cdn.example.com', async () => ['8.8.8.8', '1.1.1.1'], connect);
      expect(error).to.have.property('message', 'refused');
      expect(tried).to.deep.equal(['8.8.8.8', '1.1.1.1']);
    });

    it('holds for a whole Agent', async () => {
      const dispatcher = new Agent({ connect: guardedConnector(async () => ['10.0.0.1']) });
      const error: unknown = await request('https://inside.example.com/', { dispatcher }).catch(
        (e: unknown) => e,
      );
      expect(error).to.be.instanceOf(AddressRefused);
    });
  });

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

// The guard: which URLs and addresses are refused, and that no socket is opened to a refused address.
import { Socket } from 'node:net';
import { expect } from 'chai';
import { Agent, request, type buildConnector } from 'undici';
import {
  AddressRefused,
  checkOutsideUrl,
  guardedConnector,
  isPublicAddress,
} from '../../../providers/http/address-guard.ts';

const trustsNobody = (): boolean => false;

/** Addresses of every class that IANA reserves for other purposes than the public internet. */
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
  // Spellings of IPv4 within IPv6, and blocks that no registry has given out yet.
  ...['::7f00:1', '::127.0.0.1', '::a00:1', '::808:808', '::ffff:a9fe:a9fe', '0:0:0:0:0:ffff:7f00:1'],
  ...[
    '2001:0:7f00:1::',
    '4000::1',
    '8000::1',
    'a000::1',
    'e000::1',
    '1::1',
    '2620:4f:8000::1',
    '168.63.129.16',
  ],
  ...['5f00::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1'],
];

describe('the address guard', () => {
  it('allows ordinary public addresses only', () => {
    const allowed = [
      '8.8.8.8',
      '1.1.1.1',
      '2606:4700:4700::1111',
      '2a00:1450:4001:82a::200e',
      '168.63.129.17',
    ];
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
     * Returns a connector that opens nothing: it remembers its targets, and hands out sockets that claim to
     * have arrived there.
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
});

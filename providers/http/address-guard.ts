// Checks which foreign URLs may be fetched, and connects to public addresses only.
import { isIP, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { createLookUp } from './name-look-up.ts';
import { URL_CHARACTERS_MAX } from '../../domain/urls.ts';

/** The URL may not be fetched. The reason is withheld, since it would reveal the operator's own network. */
export class AddressRefused extends Error {
  constructor() {
    super('this URL may not be fetched');
    this.name = 'AddressRefused';
  }
}

/** All addresses of a host name. Rejects, or resolves to an empty list, when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const CONNECT_TIMEOUT_MS = 3_000;
const ADDRESSES_TRIED_MAX = 3;
const PORT_OF_SCHEME: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** Public addresses that lead to a service of the machine's own cloud: Azure's WireServer. */
const METADATA_ADDRESSES = new Set(['168.63.129.16']);
const HOSTS_REFUSED = /(^|\.)(localhost|local|internal)$|\.$/;

/**
 * Reads a URL and checks everything that can be checked without the network. The operator's own origins may
 * have any scheme of HTTP, host and port; all others must be https on port 443. Throws AddressRefused.
 */
export function checkOutsideUrl(text: string, trustsOrigin: (url: URL) => boolean): URL {
  const url = text.length <= URL_CHARACTERS_MAX ? URL.parse(text) : null;
  if (!url) throw new AddressRefused();
  const scheme = PORT_OF_SCHEME[url.protocol];
  if (scheme === undefined || url.username !== '' || url.password !== '') throw new AddressRefused();
  if (trustsOrigin(url)) return url;
  // URL drops the scheme's default port, so a remaining port is another one.
  if (url.protocol !== 'https:' || url.port !== '') throw new AddressRefused();
  const address = addressOfHost(url.hostname);
  const isAllowed = address === null ? isPublicName(url.hostname) : isPublicAddress(address);
  if (!isAllowed) throw new AddressRefused();
  return url;
}

/**
 * Whether an IP address is an ordinary unicast address of the public internet, the only class that is
 * allowed. Of IPv6 that is `2000::/3` (RFC 4291 §2.4) without its special blocks, so that IPv4 addresses in
 * any IPv6 spelling are refused as well.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv6
    ? parsed.match(GLOBAL_UNICAST)
    : !METADATA_ADDRESSES.has(parsed.toString());
}

const resolveByDns: Resolve = createLookUp();

/**
 * A connector for an undici Agent. A name is resolved once; every one of its addresses must be public, and
 * the socket is opened to an address, never to the name, so that a second look-up with another answer cannot
 * happen. URLs with a literal address pass through the same check, and the socket's own remote address is
 * checked once more.
 */
export function guardedConnector(
  resolve: Resolve = resolveByDns,
  connect: buildConnector.connector = buildConnector({ timeout: CONNECT_TIMEOUT_MS }),
): buildConnector.connector {
  return (options, callback) => {
    openGuarded(options, resolve, connect).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : new Error('no connection'), null),
    );
  };
}

async function openGuarded(
  options: buildConnector.Options,
  resolve: Resolve,
  connect: buildConnector.connector,
): Promise<Socket> {
  const { hostname } = options;
  const isLiteral = isIP(hostname) !== 0;
  const addresses = isLiteral ? [hostname] : await resolve(hostname);
  if (!addresses.every(isPublicAddress)) throw new AddressRefused();
  const target = isLiteral ? options : { ...options, servername: hostname };
  let failure: unknown = new Error('the name has no address');
  for (const address of addresses.slice(0, ADDRESSES_TRIED_MAX)) {
    try {
      return await openChecked({ ...target, hostname: address }, connect);
    } catch (error) {
      if (error instanceof AddressRefused) throw error;
      failure = error;
    }
  }
  throw failure;
}

async function openChecked(
  options: buildConnector.Options,
  connect: buildConnector.connector,
): Promise<Socket> {
  const socket = await new Promise<Socket>((resolve, reject) => {
    connect(options, (...outcome) => {
      const [error, opened] = outcome;
      if (error) reject(error);
      else resolve(opened);
    });
  });
  if (isPublicAddress(socket.remoteAddress ?? '')) return socket;
  socket.destroy();
  throw new AddressRefused();
}

/** URL has already turned `127.1`, `0x7f000001`, `2130706433` and full-width digits into dotted form. */
function addressOfHost(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? null : bare;
}

/** Names without a dot belong to a local network. */
function isPublicName(hostname: string): boolean {
  return hostname.includes('.') && !HOSTS_REFUSED.test(hostname);
}

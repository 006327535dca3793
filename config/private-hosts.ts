// Which hosts belong to a private network, where plain http may be permitted.
import { BlockList, isIP } from 'node:net';

/** Loopback, the private blocks of RFC 1918 and RFC 4193, and the shared block of RFC 6598 that VPNs use. */
const NETWORKS: readonly [address: string, bits: number, family: 'ipv4' | 'ipv6'][] = [
  ['127.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['::1', 128, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
];
/** Names that no public resolver answers: RFC 6761, RFC 6762, RFC 8375, and `.internal` of ICANN. */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|home\.arpa)$/;

const privateAddresses = new BlockList();
for (const network of NETWORKS) privateAddresses.addSubnet(...network);

/**
 * Whether the host of a URL is private by its spelling: an address of a private block, a name without a dot
 * (a container's or a service's), or a name under a private ending. Nothing is looked up.
 */
export function isPrivateHost(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  const version = isIP(host);
  if (version > 0) return privateAddresses.check(host, version === 4 ? 'ipv4' : 'ipv6');
  return !host.includes('.') || PRIVATE_NAME.test(host);
}

// Reduces an IP address to the block that one customer controls, which is what limits are counted by.
import ipaddr from 'ipaddr.js';

/** Groups of 16 bits in the network half of an IPv6 address. */
const NETWORK_GROUPS = 4;

/**
 * Returns an IPv4 address as it is, and the /64 network of an IPv6 address; `unknown` when `ip` is no
 * address.
 */
export function addressBlock(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip); // turns an IPv4-mapped IPv6 address into the IPv4 address
  if (address.kind() === 'ipv4') return address.toString();
  const { parts } = ipaddr.IPv6.parse(address.toString());
  const network = parts.slice(0, NETWORK_GROUPS).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

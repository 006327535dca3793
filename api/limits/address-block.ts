// Whom an address stands for in a limit: with IPv6 one customer has a whole /64, with IPv4 one address.
import ipaddr from 'ipaddr.js';

const NETWORK_PARTS = 4; // of 16 bits each

export function addressBlock(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip); // an IPv4 address in IPv6 clothes becomes the IPv4 address
  if (address.kind() === 'ipv4') return address.toString();
  const parts = ipaddr.IPv6.parse(address.toString()).parts;
  return `${parts
    .slice(0, NETWORK_PARTS)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

// Looks foreign host names up: asks the name servers itself, in bounded time and without a thread.
import { Resolver } from 'node:dns/promises';

/** Of one question, repeated `TRIES` times; each takes longer than the one before. */
const TIMEOUT_MS = 1_500;
const TRIES = 2;

/** Name servers other than the system's, for tests. */
type Servers = readonly string[];

/**
 * Returns a function that answers all addresses of a host name, those of IPv4 first. It rejects when there
 * are none, or when no name server answers. The system's own look-up would hold one of the few threads that
 * all look-ups of the process share for as long as a foreign name server is silent. Each look-up has a
 * resolver of its own (about 50 µs): it asks the name servers that the system has at that moment, and what a
 * silent one did to the pace of others is not remembered.
 */
export function createLookUp(servers?: Servers): (hostname: string) => Promise<readonly string[]> {
  return async (hostname) => {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [four, six].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length === 0 && four.status === 'rejected') throw four.reason as Error;
    return found;
  };
}

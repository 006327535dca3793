// Tells whose a request is before it is authenticated, by the credentials that were right before.
//
// A user may have any number of keys. Counted by key, twenty of them would weigh as twenty callers, until the
// last one is authenticated.
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { addressBlock } from '../limits/address-block.ts';

/** The most credentials that are remembered: about 20 MB. */
const CREDENTIALS_MAX = 100_000;

/** The part of a request that tells whose it is. */
export interface Sender {
  headers: Pick<IncomingHttpHeaders, 'authorization' | 'cookie'>;
  ip?: string | undefined;
}

export class Subjects {
  /** Users by the hash of a key or cookie, so that neither is kept. */
  readonly #userIds = new LRUCache<string, string>({ max: CREDENTIALS_MAX });

  /**
   * The user of the key or cookie if it was right before, and may have been revoked since; else the address
   * block, however many wrong ones come from there.
   */
  of(sender: Sender): string {
    const name = nameOf(sender.headers);
    const known = name === null ? undefined : this.#userIds.get(name);
    // The address is asked for last: behind proxies it takes longer to find than the user.
    return known ?? `address ${addressBlock(sender.ip ?? '')}`;
  }

  /** Remembers whose the credentials of an authenticated request are. */
  learn({ headers }: Sender, userId: string): void {
    const name = nameOf(headers);
    if (name !== null) this.#userIds.set(name, userId);
  }
}

function nameOf({ authorization, cookie }: Sender['headers']): string | null {
  const text = authorization ?? cookie;
  return text === undefined ? null : hash('sha256', text, 'base64');
}

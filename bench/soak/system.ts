// What a soak plays on: the whole product, with faults that can be injected into its parts.
import type { Secrets } from '../../db/secrets.ts';
import { RAISED_LIMITS } from '../raised-limits.ts';

export type FaultKind = 'none' | 'gentle' | 'all';

export interface Fault {
  name: string;
  weight: number;
  part: string;
  /** A part that hangs or is cut off comes back after up to `lastsMsMax`. */
  does: 'kill' | 'restart' | 'hang' | 'cut';
  lastsMsMax: number;
  /** Share of the soak from which the fault no longer comes, because the memory of its process is judged. */
  untilShare: number;
}

export interface SoakSystem {
  databaseUrl: string;
  /** Secrets with the product's key ring, so that the soak can create keys and sessions for it. */
  secrets: Secrets;
  /** Addresses of the API; requests take turns. */
  baseUrls: readonly string[];
  /** Addresses of the internal listeners of API and worker processes, whose use of resources is judged. */
  internalUrls: Readonly<Record<string, string>>;
  /** The faults that each kind of soak may inject. */
  faults: Readonly<Record<FaultKind, readonly Fault[]>>;
  /**
   * Injects a fault; one that passes by itself ends after `lastsMs`. False when there was nothing to disturb,
   * because the part is being restarted.
   */
  strike(fault: Fault, lastsMs: number): Promise<boolean>;
  /** Waits until every part is back after a fault. Throws when one is not within two minutes. */
  untilHealthy(): Promise<void>;
  stop(): Promise<void>;
}

/** A chat reservation of a process that was killed is settled by the sweeper after its lease. */
export const SOAK_SETTINGS = {
  ...RAISED_LIMITS,
  SVC_LIMIT_AUTH: '1000000/60',
  SVC_LIMIT_STRAY: '1000000/60',
  SVC_LIMIT_UPLOAD: '1000000/60',
  SVC_CHAT_LEASE_SECONDS: '15',
} as const;

// What is remembered about work at a vendor between one call and the next.
import type { JsonValue } from './json.ts';

/** Opaque to everybody but the adapter that made it. Holds ids and names, never a secret. */
export interface JobHandle {
  /** The vendor's id of the job, shown to the owner as upstreamTaskId. */
  id: string;
  /** Id of the credential that submitted the job; only this one may ask about it. */
  credential: string;
  [detail: string]: JsonValue;
}

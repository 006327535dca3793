// What is stored about a vendor's job between one poll and the next.
import type { JsonValue } from './json.ts';

/** Only the adapter that made a handle reads its details. It contains ids and names, never a secret. */
export interface JobHandle {
  /** The vendor's id of the job, shown to the owner as upstreamTaskId. */
  id: string;
  /** The id of the credential that submitted the job; only this credential may poll it. */
  credential: string;
  [detail: string]: JsonValue;
}

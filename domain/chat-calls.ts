// What is recorded of a chat call: how it ended, whose token count was charged, which upstreams were asked.

export type ChatCallStatus = 'completed' | 'failed' | 'cancelled';

/** Whose count the charge rests on: the upstream's, ours, or nobody's, since nothing is charged. */
export type BillingBasis = 'upstream' | 'estimated' | 'none';

/** One upstream that was asked, and how it went. */
export interface TriedUpstream {
  family: string;
  credential: string;
  /** 'accepted', or the class of the failure. */
  outcome: string;
}

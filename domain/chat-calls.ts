// What is recorded of a chat call: how it ended, which token count was charged, which upstreams were asked.

export const CHAT_CALL_STATUSES = ['completed', 'failed', 'cancelled'] as const;
export type ChatCallStatus = (typeof CHAT_CALL_STATUSES)[number];

/** The token count that the charge rests on: the upstream's, our estimate, or none if nothing is charged. */
export const BILLING_BASES = ['upstream', 'estimated', 'none'] as const;
export type BillingBasis = (typeof BILLING_BASES)[number];

/**
 * How often a running call renews its lease before it would end: it stays alive when two renewals fail.
 */
export const RENEWALS_PER_LEASE = 3;

/** One upstream that was asked, with the outcome. */
export interface TriedUpstream {
  family: string;
  credential: string;
  /** 'accepted', or the class of the failure. */
  outcome: string;
}

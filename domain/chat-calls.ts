// What is recorded of a chat call: how it ended, whose token count was charged, which upstreams were asked.

export const CHAT_CALL_STATUSES = ['completed', 'failed', 'cancelled'] as const;
export type ChatCallStatus = (typeof CHAT_CALL_STATUSES)[number];

/** Whose count the charge rests on: the upstream's, ours, or nobody's, since nothing is charged. */
export const BILLING_BASES = ['upstream', 'estimated', 'none'] as const;
export type BillingBasis = (typeof BILLING_BASES)[number];

/** One upstream that was asked, and how it went. */
export interface TriedUpstream {
  family: string;
  credential: string;
  /** 'accepted', or the class of the failure. */
  outcome: string;
}

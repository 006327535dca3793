// What a chat call is to the database: how it begins, what is decided of it, how it ends.
import type { BillingBasis, ChatCallStatus, TriedUpstream } from '../../domain/chat-calls.ts';
import type { MicroCredits } from '../../domain/credits.ts';
import type { KeyClaim, SealedAnswer } from '../idempotency/idempotency-keys.ts';
import type { ReserveRefusal } from '../ledger/reservations.ts';

/** What names a call in the database: its row is found by user and id, its key's counters are locked. */
export interface ChatCallKey {
  /** From `makeId('call')`. */
  id: string;
  userId: string;
  keyId: string;
}

export interface NewChatCall extends ChatCallKey {
  model: string;
  stream: boolean;
  requestId: string;
  /** What has to be reserved. */
  amount: MicroCredits;
  /** What is reserved of an account with much to spare: `spare-amounts.sql` decides, up to this. */
  amountMax: MicroCredits;
  /** The idempotency key that is claimed with the reservation; null for a call without one. */
  claim: KeyClaim | null;
}

/**
 * `available`: what the account still had at that moment, in micro-credits. `key_taken`: another request has
 * the idempotency key; nothing is reserved.
 */
export type ChatCallVerdict =
  | { kind: 'reserved'; amount: MicroCredits }
  | { kind: 'refused'; reason: ReserveRefusal; available: MicroCredits }
  | { kind: 'key_taken' };

export interface ChatCallEnd extends ChatCallKey {
  charged: MicroCredits;
  /** What the call cost beyond the charge; the operator bears it. */
  loss: MicroCredits;
  status: ChatCallStatus;
  promptTokens: number | null;
  completionTokens: number | null;
  billingBasis: BillingBasis;
  latencyMs: number;
  upstreamRequestId: string | null;
  errorCode: string | null;
  /** Masked text, for the owner. */
  errorMessage: string | null;
  tried: readonly TriedUpstream[];
  /**
   * What repeats of its request are answered if the call is charged as `charged` says: kept in the same
   * statement, so that no charged answer is lost. Null without an idempotency key, or while it is not known.
   */
  answer: SealedAnswer | null;
}

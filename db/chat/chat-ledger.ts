// The money of chat calls: set aside before the upstream is called, settled once when it is over, many calls
// at a time. The conditions are PL/pgSQL: `reserve_calls` in db/migrations/011-earmarks.ts, `settle_calls` in
// db/migrations/005-chat-functions.ts.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../../domain/credits.ts';
import { makeId } from '../ids.ts';
import { readMicroCredits } from '../columns.ts';
import { batch } from './batching.ts';
import { forkEm, type Database, type Em } from '../database.ts';
import { type ChatCallStatus, type BillingBasis, type TriedUpstream } from '../../domain/chat-calls.ts';
import type { ReserveRefusal } from '../ledger/reservations.ts';

export interface NewChatCall {
  /** The reservation's id, from `makeId('res')`. */
  id: string;
  userId: string;
  keyId: string;
  model: string;
  stream: boolean;
  requestId: string;
  amount: MicroCredits;
}

/** `available`: what the account still had at that moment, in micro-credits. */
export type ChatCallVerdict =
  | { kind: 'reserved' }
  | { kind: 'refused'; reason: ChatCallRefusal; available: MicroCredits };
export type ChatCallRefusal =
  | ReserveRefusal
  | 'model_not_allowed'
  | 'key_quota_exceeded'
  | 'daily_budget_exceeded';

export interface ChatCallEnd {
  /** The reservation's id. */
  id: string;
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
}

/** What a running call has delivered so far: the least to be charged if its process dies. */
export interface ChatCallProgress {
  id: string;
  charge: MicroCredits;
  promptTokens: number;
  completionTokens: number;
}

export interface ChatCalls {
  /** Sets credits aside. User, key, key limits and balance are conditions of the same statement. */
  reserve(call: NewChatCall): Promise<ChatCallVerdict>;
  /** Reserves within the transaction of `em`, in a statement of its own. */
  reserveIn(em: Em, call: NewChatCall): Promise<ChatCallVerdict>;
  /** Charges and writes the record of the call. Safe to repeat: the first one counts. */
  settle(end: ChatCallEnd): Promise<void>;
  /** Extends the lease of a running call and records its progress. */
  renewLease(known: ChatCallProgress): Promise<void>;
}

/** A larger statement would make its callers wait longer than a second statement takes. */
const BATCH_ITEMS_MAX = 100;
const GATHER_MS = 1;
/** Abandoned calls settled in one statement. */
const ABANDONED_MAX = 200;
/** Tries of a reservation that was refused only because of its neighbours in the batch. */
const RESERVE_TRIES_MAX = 20;
/** PostgreSQL's codes for a lock that was not to be had in time, and for a deadlock. */
const LOCK_CODES = ['55P03', '40P01'];

export function createChatCalls(database: Database, leaseSeconds: number): ChatCalls {
  const move = batch((moves: readonly Move[]) => moveAll(forkEm(database), moves, leaseSeconds), {
    itemsMax: BATCH_ITEMS_MAX,
    gatherMs: GATHER_MS,
    isOneItemsFault: isLockFault,
  });
  return {
    reserve: async (call) => {
      for (let tries = 0; tries < RESERVE_TRIES_MAX; tries += 1) {
        const verdict = await move({ call });
        if (verdict !== 'again' && verdict !== 'settled') return verdict;
      }
      throw new Error('a reservation was put off too often');
    },
    reserveIn: async (em, call) => {
      const [verdict] = await moveAll(em, [{ call }], leaseSeconds);
      // A batch of one has no neighbours to wait for.
      if (verdict === undefined || verdict === 'again' || verdict === 'settled')
        throw new Error('a reservation was not decided');
      return verdict;
    },
    settle: async (end) => void (await move({ end })),
    renewLease: async ({ id, charge, promptTokens, completionTokens }) => {
      await forkEm(database).execute(sql`
        update reservation
        set lease_until = now() + make_interval(secs => ${leaseSeconds}), known_charge = least(${charge}, amount),
            known_prompt_tokens = ${promptTokens}, known_completion_tokens = ${completionTokens}
        where id = ${id} and state = 'open' and task_id is null`);
    },
  };
}

/** What a call was charged; null while it runs, or when there is no such call. */
export async function findCharge(em: Em, reservationId: string): Promise<MicroCredits | null> {
  const [row] = await em.execute<{ charged: string }[]>(sql`
    select coalesce(charged, 0) as charged from reservation where id = ${reservationId} and state <> 'open'`);
  return row ? readMicroCredits(row.charged) : null;
}

/**
 * Ends calls whose lease is over because their process died: charges what was known to be delivered and
 * returns the rest. Answers how many there were.
 */
export async function settleAbandonedCalls(em: Em): Promise<number> {
  const rows = await em.execute<AbandonedRow[]>(sql`
    select id, known_charge as "charge", known_prompt_tokens as "promptTokens",
           known_completion_tokens as "completionTokens",
           (extract(epoch from lease_until - created_at) * 1000)::int as "latencyMs"
    from reservation where state = 'open' and lease_until < now() order by lease_until limit ${ABANDONED_MAX}`);
  if (rows.length === 0) return 0;
  const ends = rows.map(({ id, charge, promptTokens, completionTokens, latencyMs }): Move => ({
    end: {
      id,
      charged: readMicroCredits(charge),
      loss: 0n,
      status: 'failed',
      promptTokens,
      completionTokens,
      billingBasis: readMicroCredits(charge) > 0n ? 'estimated' : 'none',
      latencyMs,
      upstreamRequestId: null,
      errorCode: 'internal_error',
      errorMessage: 'The call broke off on our side.',
      tried: [],
    },
  }));
  await moveAll(em, ends, 0);
  return rows.length;
}

interface AbandonedRow {
  id: string;
  charge: string;
  promptTokens: number | null;
  completionTokens: number | null;
  latencyMs: number;
}

interface VerdictRow {
  n: number;
  verdict: ChatCallRefusal | 'reserved' | 'again' | 'settled';
  available: string;
}

/** An item of a batch: a call that begins or one that ends. */
type Move = { call: NewChatCall } | { end: ChatCallEnd };
type Moved = ChatCallVerdict | 'again' | 'settled';

/** Settles before it reserves: the credits that ending calls return are there for those that begin. */
async function moveAll(em: Em, moves: readonly Move[], leaseSeconds: number): Promise<Moved[]> {
  const begun = moves.flatMap((move, n) => ('call' in move ? [reserveItem(move.call, n)] : []));
  const ended = moves.flatMap((move, n) => ('end' in move ? [settleItem(move.end, n)] : []));
  const settle = sql`select -1 as n, 'settled' as verdict, 0::bigint as available
                     from settle_calls(${JSON.stringify(ended)}::jsonb)`;
  const reserve = sql`select n, verdict, available
                      from reserve_calls(${JSON.stringify(begun)}::jsonb, ${leaseSeconds})`;
  const rows = await em.execute<VerdictRow[]>(
    begun.length === 0 ? settle : ended.length === 0 ? reserve : sql`${settle} union all ${reserve}`,
  );
  const byIndex = new Map(rows.map((row) => [row.n, row]));
  return moves.map((move, n) => ('end' in move ? 'settled' : readVerdict(byIndex.get(n))));
}

function readVerdict(row: VerdictRow | undefined): Moved {
  if (!row) throw new Error('a call belongs to no account');
  if (row.verdict === 'again' || row.verdict === 'settled') return row.verdict;
  if (row.verdict === 'reserved') return { kind: 'reserved' };
  return { kind: 'refused', reason: row.verdict, available: readMicroCredits(row.available) };
}

function isLockFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && LOCK_CODES.includes(String(error.code));
}

function reserveItem({ id, userId, keyId, model, stream, requestId, amount }: NewChatCall, n: number) {
  const columns = { user_id: userId, key_id: keyId, request_id: requestId };
  return { n, id, ...columns, model, stream, amount: String(amount) };
}

function settleItem(end: ChatCallEnd, n: number) {
  return {
    n,
    id: end.id,
    call_id: makeId('call'),
    transaction_id: makeId('txn'),
    entry_id: makeId('led'),
    counter_entry_id: makeId('led'),
    charged: String(end.charged),
    loss: String(end.loss),
    status: end.status,
    prompt_tokens: end.promptTokens,
    completion_tokens: end.completionTokens,
    billing_basis: end.billingBasis,
    latency_ms: end.latencyMs,
    upstream_request_id: end.upstreamRequestId,
    error_code: end.errorCode,
    error_message: end.errorMessage,
    tried: end.tried,
  };
}

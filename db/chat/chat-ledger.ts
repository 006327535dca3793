// The money of chat calls: set aside before the upstream is called, settled once when it is over, many calls
// at a time.
import pLimit from 'p-limit';
import type { MicroCredits } from '../../domain/credits.ts';
import { makeId } from '../ids.ts';
import { readMicroCredits } from '../columns.ts';
import { batch, isDataFault, isOneItemsFault } from '../batching.ts';
import { forkEm, type Database, type Em } from '../database.ts';
import { isWaitForKey, type SealedAnswer } from '../idempotency/idempotency-keys.ts';
import { prepare } from '../prepared.ts';
import type { ChatCallEnd, ChatCallKey, ChatCallVerdict, NewChatCall } from './calls.ts';
import { moveAll, type Move, type Moved } from './chat-moves.ts';

/** What a running call has delivered so far: the least to be charged if its process dies. */
export interface ChatCallProgress extends Pick<ChatCallKey, 'id' | 'userId'> {
  charge: MicroCredits;
  promptTokens: number;
  completionTokens: number;
}

export interface ChatCalls {
  /**
   * Sets credits aside, and claims the idempotency key of the call. User, key, key limits and balance are
   * conditions of the same statement.
   */
  reserve(call: NewChatCall): Promise<ChatCallVerdict>;
  /**
   * Charges and completes the row of the call. Safe to repeat: the first end counts, except that the end of a
   * call which the sweeper took for abandoned corrects it once. Answers what the call was really charged.
   */
  settle(end: ChatCallEnd): Promise<MicroCredits>;
  /**
   * Keeps the answer of a call with an idempotency key, for repeats, which was not known at its end. The
   * first one stands.
   */
  keepAnswer(answer: SealedAnswer): Promise<void>;
  /**
   * Extends the lease of a running call and records its progress. False: the call is settled, since its lease
   * was over.
   */
  renewLease(known: ChatCallProgress): Promise<boolean>;
}

/** A larger statement would make its callers wait longer than a second statement takes. */
const BATCH_ITEMS_MAX = 100;
/** A longer answer is kept in a statement of its own, so that no batch grows by megabytes. */
const SHARED_BYTES_MAX = 8_192;
/** Each of them holds a connection while it is written. */
const LONG_ANSWERS_AT_ONCE_MAX = 2;
/** Abandoned calls settled in one statement. */
const ABANDONED_MAX = 200;
/** Abandoned calls settled one by one: more than the contradictory ones among them, which stay the first. */
const LISTED_MAX = 2_000;
/** Longest time for these: each may wait two seconds for a locked account. */
const ONE_BY_ONE_MS_MAX = 30_000;

export function createChatCalls(database: Database, leaseSeconds: number): ChatCalls {
  const em = forkEm(database); // one for all: statements on the pool leave nothing in it
  // Ends and beginnings share a statement, which locks and flushes once for both.
  const options = { itemsMax: BATCH_ITEMS_MAX, isOneItemsFault, groupOf: accountOf };
  const move = batch((moves: readonly Move[]) => moveAll(em, moves, leaseSeconds), options);
  const alone = pLimit(LONG_ANSWERS_AT_ONCE_MAX);
  const moveWith = async (answer: SealedAnswer | null, one: Move): Promise<Moved | undefined> => {
    if (answer === null || answer.bytes.length <= SHARED_BYTES_MAX) return move(one);
    return alone(async () => (await moveAll(em, [one], leaseSeconds))[0]);
  };
  return {
    reserve: async (call) => {
      const verdict = await move({ kind: 'reservation', call }).catch((error: unknown) => {
        if (isWaitForKey(error)) return { kind: 'key_taken' } as const;
        throw error;
      });
      if (verdict === null || typeof verdict === 'bigint')
        throw new Error('a reservation was not answered as one');
      return verdict;
    },
    settle: async (end) => {
      const charged = await moveWith(end.answer, { kind: 'end', end });
      if (typeof charged !== 'bigint') throw new Error('a settlement was answered as a reservation');
      return charged;
    },
    keepAnswer: async (answer) => {
      await moveWith(answer, { kind: 'answer', answer });
    },
    renewLease: async ({ id, userId, charge, promptTokens, completionTokens }) => {
      const values = [userId, id, leaseSeconds, charge, promptTokens, completionTokens];
      return (await renew(em, values)).length > 0;
    },
  };
}

/** Whose account a move concerns; none for an answer. */
function accountOf(move: Move): string {
  if (move.kind === 'answer') return '';
  return move.kind === 'end' ? move.end.userId : move.call.userId;
}

/** What a call was charged; null while it runs, or when there is no such call. */
export async function findCharge(em: Em, userId: string, id: string): Promise<MicroCredits | null> {
  const [row] = await selectCharge(em, [userId, id]);
  return row ? readMicroCredits(row.charged) : null;
}

/** What became of calls whose lease is over. */
export interface AbandonedCalls {
  settled: number;
  /** Those whose figures contradict their account, with the database's reason. They stay as they are. */
  contradictory: readonly { callId: string; reason: unknown }[];
}

/**
 * Ends calls whose lease is over because their process died: charges what was known to be delivered and
 * returns the rest. A call whose figures contradict those of its account keeps no other from its end.
 */
export async function settleAbandonedCalls(em: Em): Promise<AbandonedCalls> {
  const transferIds = Array.from({ length: ABANDONED_MAX }, () => makeId('led'));
  try {
    const [row] = await settleAbandoned(em, [transferIds, null]);
    return { settled: row?.settled ?? 0, contradictory: [] };
  } catch (error) {
    if (!isOneItemsFault(error)) throw error;
    return settleEachAbandoned(em);
  }
}

/** How many calls `settleAbandonedCalls` would end. */
export async function countAbandonedCalls(em: Em): Promise<number> {
  const [row] = await countAbandoned(em, []);
  return row?.abandoned ?? 0;
}

async function settleEachAbandoned(em: Em): Promise<AbandonedCalls> {
  const contradictory: AbandonedCalls['contradictory'][number][] = [];
  let settled = 0;
  const endsAt = Date.now() + ONE_BY_ONE_MS_MAX;
  for (const { id: callId } of await listAbandoned(em, [LISTED_MAX])) {
    if (Date.now() > endsAt) break;
    try {
      const [row] = await settleAbandoned(em, [[makeId('led')], callId]);
      settled += row?.settled ?? 0;
    } catch (reason) {
      if (!isOneItemsFault(reason)) throw reason;
      // One whose account was locked is settled in another round.
      if (isDataFault(reason)) contradictory.push({ callId, reason });
    }
  }
  return { settled, contradictory };
}

const settleAbandoned = prepare<{ settled: number }>(
  'settle-abandoned-calls',
  'select settle_abandoned_calls($1, $2) as settled',
);
const listAbandoned = prepare<{ id: string }>(
  'list-abandoned-calls',
  `select id from chat_call where status = 'open' and lease_until < now() order by lease_until limit $1`,
);
const countAbandoned = prepare<{ abandoned: number }>(
  'count-abandoned-calls',
  `select count(*)::integer as abandoned from chat_call where status = 'open' and lease_until < now()`,
);
const renew = prepare<{ id: string }>(
  'renew-lease',
  `update chat_call
   set lease_until = now() + make_interval(secs => $3), known_charge = least($4, credits_reserved),
       prompt_tokens = $5, completion_tokens = $6
   where user_id = $1 and id = $2 and settled_at is null returning id`,
);
const selectCharge = prepare<{ charged: string }>(
  'find-charge',
  `select credits_charged as charged from chat_call where user_id = $1 and id = $2 and status <> 'open'`,
);

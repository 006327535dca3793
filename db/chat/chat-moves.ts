// The statements that reserve for chat calls and settle them, many at a time; the conditions are the SQL
// functions in the files beside this one.
import type { MicroCredits } from '../../domain/credits.ts';
import { readMicroCredits } from '../columns.ts';
import type { Em } from '../database.ts';
import { makeId } from '../ids.ts';
import type { ReserveRefusal } from '../ledger/reservations.ts';
import { prepare, storableJson, storableText, type Parameter } from '../prepared.ts';
import type { ChatCallEnd, ChatCallVerdict, NewChatCall } from './calls.ts';

export type Move = { kind: 'reservation'; call: NewChatCall } | { kind: 'end'; end: ChatCallEnd };

/** The verdict on a reservation, or what a call that has ended was charged. */
export type Moved = ChatCallVerdict | MicroCredits;

/**
 * Makes all moves in one statement: the ends first, so that what they return is there for the reservations.
 * Answers in the order of `moves`.
 */
export async function moveAll(em: Em, moves: readonly Move[], leaseSeconds: number): Promise<Moved[]> {
  const ends = moves.flatMap((move) => (move.kind === 'end' ? [move.end] : []));
  const calls = moves.flatMap((move) => (move.kind === 'reservation' ? [move.call] : []));
  if (calls.length === 0) return settleAll(em, ends);
  if (ends.length === 0) return reserveAll(em, calls, leaseSeconds);
  const exceptions = await settleAndReserve(em, [
    ...valuesOfEnds(ends),
    ...valuesOfCalls(calls, leaseSeconds),
  ]);
  const charges = chargesOf(
    ends,
    exceptions.filter((row) => !row.isReservation),
  ).values();
  const verdicts = verdictsOf(
    calls,
    exceptions.filter((row) => row.isReservation),
  ).values();
  return moves.map(({ kind }) => answerOf(kind === 'end' ? charges.next() : verdicts.next()));
}

/**
 * Reserves many calls in one statement, each as if it had come after those before it. The statement answers
 * the calls that were refused, with what was available, and those that got less than their `amountMax`.
 */
export async function reserveAll(
  em: Em,
  calls: readonly NewChatCall[],
  leaseSeconds: number,
): Promise<ChatCallVerdict[]> {
  return verdictsOf(calls, await reserveCalls(em, valuesOfCalls(calls, leaseSeconds)));
}

/** Settles many calls in one statement; answers what each was really charged. */
export async function settleAll(em: Em, ends: readonly ChatCallEnd[]): Promise<MicroCredits[]> {
  return chargesOf(ends, await settleCalls(em, valuesOfEnds(ends)));
}

/** `n`: its place among the reservations, or among the ends, from 1. */
interface Exception {
  n: number;
  amount: string;
}

interface ReservationException extends Exception {
  refusal: ReserveRefusal | null;
}

const reserveCalls = prepare<ReservationException>(
  'reserve-spared-calls',
  'select n, refusal, amount from reserve_spared_calls($1, $2, $3, $4, $5, $6, $7, $8, $9)',
);
const settleCalls = prepare<Exception>(
  'settle-calls',
  `select n, charged as amount
   from settle_calls($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
);
const settleAndReserve = prepare<ReservationException & { isReservation: boolean }>(
  'settle-and-reserve-calls',
  `select is_reservation as "isReservation", n, refusal, amount
   from settle_and_reserve_calls($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
     $19, $20, $21, $22, $23, $24)`,
);

function valuesOfCalls(calls: readonly NewChatCall[], leaseSeconds: number): Parameter[] {
  return [
    calls.map(({ id }) => id),
    calls.map(({ userId }) => userId),
    calls.map(({ keyId }) => keyId),
    calls.map(({ requestId }) => storableText(requestId)),
    calls.map(({ model }) => model),
    calls.map(({ stream }) => stream),
    calls.map(({ amount }) => amount),
    calls.map(({ amountMax }) => amountMax),
    leaseSeconds,
  ];
}

function valuesOfEnds(ends: readonly ChatCallEnd[]): Parameter[] {
  return [
    ends.map(({ id }) => id),
    ends.map(({ userId }) => userId),
    ends.map(({ keyId }) => keyId),
    ends.map(() => makeId('led')),
    ends.map(({ charged }) => charged),
    ends.map(({ loss }) => loss),
    ends.map(({ status }) => status),
    ends.map(({ promptTokens }) => promptTokens),
    ends.map(({ completionTokens }) => completionTokens),
    ends.map(({ billingBasis }) => billingBasis),
    ends.map(({ latencyMs }) => latencyMs),
    ends.map(({ upstreamRequestId }) => upstreamRequestId && storableText(upstreamRequestId)),
    ends.map(({ errorCode }) => errorCode),
    ends.map(({ errorMessage }) => errorMessage && storableText(errorMessage)),
    ends.map(({ tried }) => storableJson(tried)),
  ];
}

function verdictsOf(
  calls: readonly NewChatCall[],
  exceptions: readonly ReservationException[],
): ChatCallVerdict[] {
  const verdicts = calls.map(({ amountMax: amount }): ChatCallVerdict => ({ kind: 'reserved', amount }));
  for (const { n, refusal: reason, amount: text } of exceptions) {
    const amount = readMicroCredits(text);
    verdicts[n - 1] =
      reason === null ? { kind: 'reserved', amount } : { kind: 'refused', reason, available: amount };
  }
  return verdicts;
}

function chargesOf(ends: readonly ChatCallEnd[], exceptions: readonly Exception[]): MicroCredits[] {
  const charges = ends.map(({ charged }) => charged);
  for (const { n, amount } of exceptions) charges[n - 1] = readMicroCredits(amount);
  return charges;
}

function answerOf(next: IteratorResult<Moved, undefined>): Moved {
  if (next.value === undefined) throw new Error('a move got no answer');
  return next.value;
}

// The statement that reserves for chat calls and settles them, many at a time; the conditions are the SQL
// functions in the files beside this one.
import type { MicroCredits } from '../../domain/credits.ts';
import { storableText } from '../../domain/storable-text.ts';
import { readMicroCredits } from '../columns.ts';
import type { Em } from '../database.ts';
import { makeId } from '../ids.ts';
import { describeClaims, KEY_KEPT_HOURS, type SealedAnswer } from '../idempotency/idempotency-keys.ts';
import type { ReserveRefusal } from '../ledger/reservations.ts';
import { prepare, storableJson, type Parameter } from '../prepared.ts';
import type { ChatCallEnd, ChatCallVerdict, NewChatCall } from './calls.ts';

export type Move =
  | { kind: 'reservation'; call: NewChatCall }
  | { kind: 'end'; end: ChatCallEnd }
  | { kind: 'answer'; answer: SealedAnswer };

/** The verdict on a reservation, what a call that has ended was charged, or null for a kept answer. */
export type Moved = ChatCallVerdict | MicroCredits | null;

/**
 * Makes all moves in one statement: the ends before the reservations, so that what they return is there.
 * These are decided each as if it had come after those before it. Answers in the order of `moves`.
 */
export async function moveAll(em: Em, moves: readonly Move[], leaseSeconds: number): Promise<Moved[]> {
  const ends = moves.flatMap((move) => (move.kind === 'end' ? [move.end] : []));
  const calls = moves.flatMap((move) => (move.kind === 'reservation' ? [move.call] : []));
  const answers = moves.flatMap((move) => (move.kind === 'answer' ? [move.answer] : []));
  const kept = [...answers.map((answer) => ({ answer, end: null })), ...answersOfEnds(ends)];
  const values = [...valuesOfEnds(ends), ...valuesOfCalls(calls, leaseSeconds), ...valuesOfAnswers(kept)];
  const exceptions = await moveCalls(em, values);
  const [ofCalls, ofEnds] = [
    exceptions.filter(isReservation),
    exceptions.filter((row) => !isReservation(row)),
  ];
  const charges = chargesOf(ends, ofEnds).values();
  const verdicts = verdictsOf(calls, ofCalls).values();
  return moves.map(({ kind }) => {
    if (kind === 'answer') return null;
    return answerOf(kind === 'end' ? charges.next() : verdicts.next());
  });
}

/** What did not go as it was asked: `n` is its place among the reservations, or among the ends, from 1. */
interface Exception {
  isReservation: boolean;
  n: number;
  refusal: ReserveRefusal | typeof KEY_TAKEN | null;
  amount: string;
}

const KEY_TAKEN = 'idempotency_key_taken';

const moveCalls = prepare<Exception>(
  'move-calls',
  `select is_reservation as "isReservation", n, refusal, amount
   from move_calls($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
     $22, $23, $24, $25, $26, $27, $28, $29, $30)`,
);

function isReservation(exception: Exception): boolean {
  return exception.isReservation;
}

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
    describeClaims(calls.map(({ claim }) => claim)),
    KEY_KEPT_HOURS,
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

/** An answer to keep: `end` is the place of its call's end, from 1; null for one that comes later. */
interface KeptAnswer {
  answer: SealedAnswer;
  end: number | null;
}

function answersOfEnds(ends: readonly ChatCallEnd[]): KeptAnswer[] {
  return ends.flatMap(({ answer }, index) => (answer ? [{ answer, end: index + 1 }] : []));
}

function valuesOfAnswers(kept: readonly KeptAnswer[]): Parameter[] {
  return [
    kept.map(({ answer }) => answer.rowId),
    kept.map(({ answer }) => Buffer.from(answer.bytes).toString('base64')),
    kept.map(({ answer }) => answer.secretKeyId),
    kept.map(({ end }) => end),
  ];
}

function verdictsOf(calls: readonly NewChatCall[], exceptions: readonly Exception[]): ChatCallVerdict[] {
  const verdicts = calls.map(({ amountMax: amount }): ChatCallVerdict => ({ kind: 'reserved', amount }));
  for (const { n, refusal, amount: text } of exceptions) verdicts[n - 1] = verdictOf(refusal, text);
  return verdicts;
}

function verdictOf(refusal: Exception['refusal'], text: string): ChatCallVerdict {
  if (refusal === KEY_TAKEN) return { kind: 'key_taken' };
  const amount = readMicroCredits(text);
  return refusal ? { kind: 'refused', reason: refusal, available: amount } : { kind: 'reserved', amount };
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

// The limits of turns: to be authenticated, to go on, to create, to read much, to receive and work on long
// bodies, to receive long answers, to send images.
import { createTurns, type Turns } from './turns.ts';

/**
 * Requests of a user whose credentials are looked up: with several keys they could hold all database
 * connections. A turn ends before the rate limit, so that chat calls, whose keys are in memory, never wait
 * for one: calls that begin together are counted and reserved together, which costs less. As many may wait as
 * may be in flight.
 */
export const ENTRY_TURN_LIMITS = {
  turnsMax: 256,
  turnsPerUserMax: 4,
  waitMsMax: 30_000,
  // Beside all attacks of the bench `neighbours` 64 delayed others by half as much again. With 16, calls of a
  // hundred connections were counted and reserved in smaller batches, a quarter slower.
  beginsPerRoundMax: 24,
} as const;

/**
 * Requests that go on when Redis has counted them: it answers hundreds at once, and each then sends its
 * refusal or begins its work before anything else is done. Such a turn ends at once.
 */
export const COUNTED_TURN_LIMITS = {
  turnsMax: Infinity,
  turnsPerUserMax: Infinity,
  waitMsMax: 30_000,
  beginsPerRoundMax: 32,
} as const;

/** More creations of a user at once would only wait for the lock on the user's account. */
export const CREATION_TURN_LIMITS = {
  turnsPerUserMax: 2,
  lineMax: 500,
  linesMax: 4_000,
  waitMsMax: 30_000,
  beginsPerRoundMax: 1,
} as const;

/** A page of the console sends a handful of reads at once; a line of these is a program's. */
export const READ_TURN_LIMITS = {
  lineMax: 100,
  linesMax: 2_000,
  waitMsMax: 10_000,
  beginsPerRoundMax: 1,
} as const;

/**
 * Long bodies of a user that are received at once; others stay unread. To copy and scan them holds the event
 * loop, and their memory makes V8 collect garbage: with no such limit, thousands of bodies of a megabyte that
 * never ended made the calls of others take four times as long (bench `neighbours`).
 */
export const RECEIVING_TURN_LIMITS = {
  turnsMax: Infinity, // what all users may hold is the budget of bodies
  turnsPerUserMax: 32,
  lineMax: 128,
  linesMax: 1_024,
  waitMsMax: 10_000,
  beginsPerRoundMax: 8,
} as const;

/** One long body at a time in this process; one that has waited this long is worked on beside it. */
export const LONG_WORK_TURN_LIMITS = {
  turnsMax: 1,
  turnsPerUserMax: 1,
  lineMax: 4_000,
  linesMax: 4_000,
  waitMsMax: 5_000,
  beginsPerRoundMax: 1,
} as const;

/**
 * Long bodies whose turn did not come in time, of which hundreds are late in the same moment. None waits for
 * the end of another one; but each has a round of the event loop, users in rotation.
 */
export const LATE_WORK_TURN_LIMITS = {
  turnsMax: Infinity,
  turnsPerUserMax: Infinity,
  lineMax: 4_000,
  linesMax: 4_000,
  waitMsMax: 30_000,
  beginsPerRoundMax: 1,
} as const;

/**
 * Answers with images as base64: each is up to 14 MB, which are in memory until its caller has taken them. A
 * hundred that one caller left unread had more than a gigabyte.
 */
export const INLINE_TURN_LIMITS = {
  turnsMax: 32,
  turnsPerUserMax: 8,
  lineMax: 1_000,
  linesMax: 4_000,
  waitMsMax: 5_000,
  beginsPerRoundMax: 1,
} as const;

/**
 * Long chat answers that are not streamed: each is up to 32 MiB, which are in memory until it was read and
 * its caller has taken it. The rest of one that waits stays with its vendor; it goes on after the wait in any
 * case, since it was paid for.
 */
export const LONG_ANSWER_TURN_LIMITS = {
  turnsMax: 16,
  turnsPerUserMax: 4,
  lineMax: 1_000,
  linesMax: 4_000,
  waitMsMax: 30_000,
  beginsPerRoundMax: 1,
} as const;

/**
 * The turns of creations and long reads of a process with so many database connections: half of them for
 * creations, a quarter for long reads, half of that for one user's. The rest is left to all other requests.
 */
export function createDatabaseTurns(connectionsMax: number): { creationTurns: Turns; readTurns: Turns } {
  const readsMax = Math.max(1, Math.floor(connectionsMax / 4));
  return {
    creationTurns: createTurns({
      ...CREATION_TURN_LIMITS,
      turnsMax: Math.max(1, Math.floor(connectionsMax / 2)),
    }),
    readTurns: createTurns({
      ...READ_TURN_LIMITS,
      turnsMax: readsMax,
      turnsPerUserMax: Math.max(1, Math.floor(readsMax / 2)),
    }),
  };
}

// Measures what a chat call's money costs the database: processor time and WAL to reserve and to settle.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatCallKey } from '../db/chat/calls.ts';
import { moveAll, type Moved } from '../db/chat/chat-moves.ts';
import { forkEm, type Database } from '../db/database.ts';
import { insertUser } from '../db/identity/users.ts';
import { makeId } from '../db/ids.ts';
import { createApiKey } from '../db/keys/api-keys.ts';
import { findViolations } from '../db/ledger/invariants.ts';
import { COMMAND_LINE } from '../db/audit-log.ts';
import { grantCredits } from '../db/identity/user-administration.ts';
import { migrate, openDatabase } from '../db/open-database.ts';
import { Secrets } from '../db/secrets.ts';
import { addEnds, addTransfers, spanQuarters } from '../db/usage/rollup.ts';
import { findFreePort } from '../dev/servers/ports.ts';
import { startPostgres } from '../dev/servers/postgres.ts';
import { printTable, quantile } from './measure.ts';
import { processorSeconds } from './processes.ts';
import { bySize } from './size.ts';
import { Verdict, type Row } from './verdict.ts';

const ACCOUNTS = 1_000;
const BATCH_SIZES = [1, 20, 100];
/** Calls per measurement, so that the processor's clock ticks of 10 ms do not matter. */
const CALLS = bySize({ full: { 1: 1_500, more: 6_000 }, small: { 1: 300, more: 2_000 } });
const WARM_UP_CALLS = 500;
const LEASE_SECONDS = 3_600;
const RESERVED = 2_000n;
const CHARGED = 1_500n;
const GRANTED = 1_000_000_000_000n;
/** Measured for the same checks in their leanest form, on two busy cores. */
const GOALS: ReadonlyMap<number, number> = new Map([
  [20, 0.115],
  [100, 0.075],
]);

/** Two hundredths of a processor, with rounds that are 20 seconds apart. */
const CARRIED_GOAL_MS = 400;
const CARRIED_CALLS_PER_KEY = 20;
const CARRIED_ROUNDS = bySize({ full: 7, small: 3 });

type Spender = Omit<ChatCallKey, 'id'>;

/** One connection, fsync on: what is measured is the work per call and not how well calls run in parallel. */
export async function benchLedger(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-bench-ledger-'));
  const files = { dataDir: join(folder, 'postgres'), logFile: join(folder, 'postgres.log') };
  const server = await startPostgres({ ...files, port: await findFreePort(), log: () => undefined });
  const database = openDatabase({ url: server.url, connectionsMax: 2 });
  try {
    await migrate(database);
    const spenders = await createSpenders(database, ACCOUNTS);
    return await measureAll(database, server.pid, spenders);
  } finally {
    await database.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureAll(
  database: Database,
  pid: number,
  spenders: readonly Spender[],
): Promise<readonly Row[]> {
  const verdict = new Verdict();
  const rows = [
    ['accounts', 'calls per batch', 'PostgreSQL ms per call', 'of them reserve', 'WAL bytes per call'],
  ];
  let calls = 0;
  for (const accounts of [ACCOUNTS, 1])
    for (const size of BATCH_SIZES) {
      const some = spenders.slice(0, accounts);
      calls += await run(database, some, { size, total: WARM_UP_CALLS, pid }).then((done) => done.calls);
      const measured = await run(database, some, { size, total: size === 1 ? CALLS[1] : CALLS.more, pid });
      calls += measured.calls;
      const { reserveMs, settleMs, walBytes } = measured;
      const figures = [(reserveMs + settleMs).toFixed(3), reserveMs.toFixed(3), walBytes.toFixed(0)];
      rows.push([String(accounts), String(size), ...figures]);
      const goal = GOALS.get(size);
      if (goal !== undefined && accounts > 1)
        verdict.atMost(`ms per call in batches of ${size}`, reserveMs + settleMs, goal);
    }
  printTable(rows);
  const carried = await carryUsage(database, pid, spenders);
  calls += carried.calls;
  verdict.atMost(`usage of ${ACCOUNTS} keys, carried forward`, carried.roundMs, CARRIED_GOAL_MS, 'ms');
  const { balance, violations } = await readSums(database);
  const expected = GRANTED * BigInt(spenders.length) - CHARGED * BigInt(calls);
  verdict.exact(`balances are what was granted less ${calls} charges`, balance === expected);
  verdict.exact('no invariant is violated', violations === 0);
  return verdict.rows;
}

/**
 * PostgreSQL's time for a round of the sweeper in which every key has been used since the one before: the
 * median of some.
 */
async function carryUsage(
  database: Database,
  pid: number,
  spenders: readonly Spender[],
): Promise<{ calls: number; roundMs: number }> {
  let calls = 0;
  const roundsMs: number[] = [];
  for (let round = 0; round <= CARRIED_ROUNDS; round += 1) {
    calls += (
      await run(database, spenders, { size: 100, total: CARRIED_CALLS_PER_KEY * spenders.length, pid })
    ).calls;
    const before = processorSeconds([pid]);
    for (let after: string | null = ''; after !== null;) after = await addTransfers(forkEm(database), after);
    await addEnds(forkEm(database), new Date(), Infinity);
    while (await spanQuarters(forkEm(database)));
    if (round > 0) roundsMs.push((processorSeconds([pid]) - before) * 1_000); // the first makes the rows
  }
  return { calls, roundMs: quantile(roundsMs, 0.5) };
}

interface Run {
  size: number;
  total: number;
  pid: number;
}

/** Reserves and settles `total` calls, a batch at a time. Milliseconds and bytes are per call. */
async function run(
  database: Database,
  spenders: readonly Spender[],
  { size, total, pid }: Run,
): Promise<{ calls: number; reserveMs: number; settleMs: number; walBytes: number }> {
  const batches = Array.from({ length: Math.ceil(total / size) }, (_, batch) =>
    Array.from({ length: size }, (_unused, index) => newCall(spenders, batch * size + index)),
  );
  const calls = batches.length * size;
  const walBefore = await walPosition(database);
  const perCall = async (work: () => Promise<void>): Promise<number> => {
    const before = processorSeconds([pid]);
    await work();
    return ((processorSeconds([pid]) - before) * 1_000) / calls;
  };
  const reserveMs = await perCall(async () => {
    for (const batch of batches) {
      const moves = batch.map((call) => ({ kind: 'reservation', call }) as const);
      const verdicts = await moveAll(forkEm(database), moves, LEASE_SECONDS);
      if (!verdicts.every(isReserved)) throw new Error('a reservation was refused');
    }
  });
  const settleMs = await perCall(async () => {
    for (const batch of batches) {
      const moves = batch.map((call) => ({ kind: 'end', end: ended(call) }) as const);
      await moveAll(forkEm(database), moves, LEASE_SECONDS);
    }
  });
  return { calls, reserveMs, settleMs, walBytes: ((await walPosition(database)) - walBefore) / calls };
}

function isReserved(moved: Moved): boolean {
  return moved !== null && typeof moved === 'object' && moved.kind === 'reserved';
}

function newCall(spenders: readonly Spender[], index: number) {
  const spender = spenders[(index * 7) % spenders.length];
  if (!spender) throw new Error('there is no spender');
  const about = { model: 'gpt-6-luna', stream: false, requestId: `req_${index}_0123456789abcdef` };
  return { id: makeId('call'), ...spender, ...about, amount: RESERVED, amountMax: RESERVED, claim: null };
}

function ended({ id, userId, keyId }: ChatCallKey) {
  return {
    ...({
      id,
      userId,
      keyId,
      charged: CHARGED,
      loss: 0n,
      status: 'completed',
      billingBasis: 'upstream',
    } as const),
    ...{ promptTokens: 812, completionTokens: 230, latencyMs: 1_204, errorCode: null, errorMessage: null },
    answer: null,
    upstreamRequestId: 'chatcmpl-0123456789abcdef0123456789',
    tried: [{ family: 'openai', credential: '0123abcd', outcome: 'accepted' }],
  };
}

async function createSpenders(database: Database, count: number): Promise<Spender[]> {
  const secrets = new Secrets([{ id: 'bench', bytes: Buffer.alloc(32) }]);
  const spenders: Spender[] = [];
  for (let number = 0; number < count; number += 1) {
    const em = forkEm(database);
    const user = { email: `${number}@example.com`, passwordHash: '-', permissions: [] };
    const userId = await insertUser(em, user);
    if (userId === null) throw new Error('the user was not created');
    await grantCredits(em, COMMAND_LINE, { userId, credits: GRANTED, note: 'Bench' });
    const { id: keyId } = await createApiKey(em, secrets, { userId, name: 'Bench' });
    spenders.push({ userId, keyId });
  }
  return spenders;
}

async function walPosition(database: Database): Promise<number> {
  const [row] = await forkEm(database).execute<{ bytes: string }[]>(
    `select pg_current_wal_insert_lsn() - '0/0' as bytes`,
  );
  return Number(row?.bytes);
}

async function readSums(database: Database): Promise<{ balance: bigint; violations: number }> {
  const em = forkEm(database);
  const [row] = await em.execute<{ balance: string }[]>('select sum(balance) as balance from account');
  return { balance: BigInt(row?.balance ?? 0), violations: (await findViolations(em)).length };
}

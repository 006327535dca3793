// Measures every list with its filters, and summaries, over a long history, also while it is removed by age.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from '@mikro-orm/postgresql';
import { createRetention } from '../activities/retention.ts';
import { forkEm, type Database } from '../db/database.ts';
import { findViolations } from '../db/ledger/invariants.ts';
import { openDatabase } from '../db/open-database.ts';
import { parseCredits } from '../domain/credits.ts';
import { createStorage } from '../storage/storage.ts';
import { printTable, quantile } from './measure.ts';
import { watchIndexes } from './reads/index-use.ts';
import { createTokens, makePast, type Tokens } from './reads/past.ts';
import { listQuestions, type Question } from './reads/questions.ts';
import { bySize } from './size.ts';
import { startBenchSystem, type BenchSystem } from './system.ts';
import { Verdict, type Row } from './verdict.ts';

/** Tasks, and as many calls: of one user a tenth, the rest of all others. */
const TASKS = bySize({ full: 1_000_000, small: 100_000 });
const OTHER_USERS = bySize({ full: 900, small: 90 });
const DAYS = 80;
/** What is older is removed while the lists are read once more. */
const KEPT_DAYS = 40;
const REQUESTS = bySize({ full: 40, small: 20 });
/** Of each read before any is measured: a process that has just begun compiles what it runs. */
const FIRST_REQUESTS = 5;
const LIST_GOAL_MS = 50;
const SUMMARY_GOAL_MS = 100;
const REMOVING = ' while old rows are removed';

interface Asked {
  question: Question;
  /** The last answer, as JSON. */
  answer: string;
  p50Ms: number;
  p95Ms: number;
}

/** Runs `npm run bench -- reads`. */
export async function benchReads(): Promise<readonly Row[]> {
  const system = await startBenchSystem();
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 1 });
  const verdict = new Verdict();
  try {
    const past = await makePast(system, database, { tasks: TASKS, otherUsers: OTHER_USERS, days: DAYS });
    const questions = listQuestions(database, past.user, DAYS);
    const tokens = await createTokens(system, database, past.user);
    await askAll(system, tokens, questions, FIRST_REQUESTS);
    const alone = await askAll(system, tokens, questions);
    await printReads(database, alone, verdict);
    judge(verdict, alone, '');
    await compareWithLedger(database, alone, verdict, '');
    const retention = await readWhileRemoving(system, () => askAll(system, tokens, questions));
    judge(verdict, retention.asked, REMOVING);
    await compareWithLedger(database, retention.asked, verdict, REMOVING);
    printTable([
      ['what', 'value'],
      ['sums carried forward, rows a second', (past.carried.rows / (past.carried.ms / 1000)).toFixed(0)],
      ['removed by age, rows a second', retention.perSecond.toFixed(0)],
    ]);
    const violations = await findViolations(forkEm(database));
    verdict.exact(
      'reads: the ledger and its sums',
      violations.length === 0,
      `${violations.length} violations`,
    );
    return verdict.rows;
  } finally {
    await database.close();
    await system.stop();
  }
}

async function askAll(
  { baseUrl }: BenchSystem,
  tokens: Tokens,
  questions: readonly Question[],
  requests = REQUESTS,
): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const question of questions) {
    const headers = { cookie: `svc_session=${tokens[question.as]}` };
    const times: number[] = [];
    let text = '';
    for (let request = 0; request <= requests; request += 1) {
      const startedAt = performance.now();
      const answer = await fetch(baseUrl + question.path, { headers });
      text = await answer.text();
      if (answer.status !== 200) throw new Error(`${question.path} answered ${answer.status}: ${text}`);
      if (request > 0) times.push(performance.now() - startedAt);
    }
    asked.push({ question, answer: text, p50Ms: quantile(times, 0.5), p95Ms: quantile(times, 0.95) });
  }
  return asked;
}

async function printReads(database: Database, asked: readonly Asked[], verdict: Verdict): Promise<void> {
  const rows = [['read', 'p50 ms', 'p95 ms', 'indexes']];
  const whole = new Set<string>();
  for (const { question, p50Ms, p95Ms } of asked) {
    const { path, read } = question;
    const em = forkEm(database);
    const used = read ? await watchIndexes(em, () => read(em)) : { indexes: [], wholeTables: [] };
    for (const table of used.wholeTables) whole.add(`${table} by ${path}`);
    const names = [...used.indexes, ...used.wholeTables.map((table) => `whole table ${table}`)];
    rows.push([path, p50Ms.toFixed(1), p95Ms.toFixed(1), names.join(', ')]);
  }
  printTable(rows);
  verdict.exact(
    'reads: each finds its rows by an index',
    whole.size === 0,
    `${whole.size} read a table whole`,
  );
  for (const each of whole) console.log(`        ${each}`);
}

/** Holds the credits of each summary against the transfers of the ledger, of which there are no new ones. */
async function compareWithLedger(
  database: Database,
  asked: readonly Asked[],
  verdict: Verdict,
  when: string,
): Promise<void> {
  const sums = new Map<string, Promise<bigint>>();
  const wrong: string[] = [];
  for (const { question, answer } of asked) {
    if (!question.adds) continue;
    const key = JSON.stringify(question.adds);
    const sum = sums.get(key) ?? sumTransfers(database, question.adds);
    sums.set(key, sum);
    const { total } = JSON.parse(answer) as { total: { credits: number } };
    if (parseCredits(total.credits) !== (await sum)) wrong.push(question.path);
  }
  verdict.exact(`reads: summaries add up to the ledger${when}`, wrong.length === 0, `${wrong.length} do not`);
  for (const each of wrong) console.log(`        ${each}`);
}

async function sumTransfers(
  database: Database,
  { userId, from }: NonNullable<Question['adds']>,
): Promise<bigint> {
  const own = userId === null ? sql`true` : sql`account_id = ${userId}`;
  const [row] = await forkEm(database).execute<{ charged: string }[]>(sql`
    select coalesce(-sum(amount), 0)::text as charged from ledger_transfer
    where kind in ('charge', 'refund') and ${own} and created_at >= ${from.toISOString()}`);
  if (!row) throw new Error('the database answered nothing');
  return BigInt(row.charged);
}

function judge(verdict: Verdict, asked: readonly Asked[], when: string): void {
  for (const [kind, goalMs] of [
    ['list', LIST_GOAL_MS],
    ['summary', SUMMARY_GOAL_MS],
  ] as const)
    for (const as of ['user', 'administrator'] as const) {
      const ofKind = asked.filter(({ question }) => question.kind === kind && question.as === as);
      const [worst] = ofKind.sort((one, other) => other.p95Ms - one.p95Ms);
      if (!worst) continue;
      const noun = kind === 'list' ? 'lists' : 'summaries';
      verdict.atMost(
        `reads: slowest of ${ofKind.length} ${noun} of the ${as}${when}, p95`,
        worst.p95Ms,
        goalMs,
        ' ms',
      );
      console.log(`        ${worst.question.path}`);
    }
}

/** Reads while half of the history is removed; answers how fast that went, too. */
async function readWhileRemoving(
  system: BenchSystem,
  readAll: () => Promise<Asked[]>,
): Promise<{ asked: Asked[]; perSecond: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-bench-reads-'));
  const own = openDatabase({ url: system.databaseUrl, connectionsMax: 2 });
  const retention = { resultDays: 0, taskDays: KEPT_DAYS, callDays: KEPT_DAYS, auditDays: 0 };
  const storage = createStorage({ kind: 'local', folder });
  const { removeExpired } = createRetention({ database: own, storage, retention });
  const beganAt = performance.now();
  let removed = 0;
  const removal = (async () => {
    for (;;) {
      const round = Object.values(await removeExpired());
      if (round.length === 0) return performance.now() - beganAt;
      removed += round.reduce((sum, count) => sum + count, 0);
    }
  })();
  try {
    const asked = await readAll();
    const ms = await removal;
    return { asked, perSecond: removed / (ms / 1000) };
  } finally {
    await removal.catch(() => undefined);
    await own.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

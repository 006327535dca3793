// The SQL functions of this folder: each in a file of its own beside its caller, installed by `migrate`.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sql } from '@mikro-orm/postgresql';
import type { Database, Em } from './database.ts';

/** The files, in an order in which each finds what it calls. A file `a-b.sql` defines the function `a_b`. */
const FILES = [
  'ledger/spender-refusal',
  'ledger/amount-refusal',
  'ledger/lock-counters',
  'ledger/set-aside',
  'webhooks/make-id',
  'webhooks/record-task-event',
  'webhooks/record-low-balances',
  'ledger/settle-reservations',
  'ledger/credit-account',
  'ledger/refund-attempt',
  'ledger/earmark',
  'ledger/reserve-attempt',
  'tasks/begin-task',
  'tasks/end-task',
  'chat/reserve-calls',
  'chat/spare-amounts',
  'chat/reserve-spared-calls',
  'usage/correct-usage',
  'chat/settle-late-call',
  'chat/settle-calls',
  'chat/settle-abandoned-calls',
];

interface SqlFunction {
  name: string;
  text: string;
  /** Tells one text from another. */
  digest: string;
}

const FUNCTIONS: readonly SqlFunction[] = FILES.map((file) => {
  const text = readFileSync(new URL(`${file}.sql`, import.meta.url), 'utf8');
  const digest = createHash('sha256').update(text).digest('hex');
  return { name: file.replace(/^.*\//, '').replaceAll('-', '_'), text, digest };
});

/** Serialises installations. */
const LOCK = 7_262_113;

/**
 * Creates or replaces the functions whose text is not the one installed last; answers their names. What was
 * ever installed is remembered, so that a process of the release before stays ready during a deployment.
 */
export async function installFunctions(database: Database): Promise<string[]> {
  return database.em.fork().transactional(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${LOCK})`);
    const latest = await tx.execute<{ name: string; digest: string }[]>(sql`
      select distinct on (name) name, digest from sql_function order by name, installed_at desc`);
    const installed = new Map(latest.map(({ name, digest }) => [name, digest]));
    const changed = FUNCTIONS.filter(({ name, digest }) => installed.get(name) !== digest);
    for (const { name, text, digest } of changed) {
      await tx.execute(text);
      await tx.execute(sql`
        insert into sql_function (name, digest) values (${name}, ${digest})
        on conflict (name, digest) do update set installed_at = excluded.installed_at`);
    }
    return changed.map(({ name }) => name);
  });
}

/** Whether this code's text of every function was installed, by this release or before a later one. */
export async function areFunctionsInstalled(em: Em): Promise<boolean> {
  const rows = await em.execute<{ digest: string }[]>(sql`select digest from sql_function`);
  const digests = new Set(rows.map(({ digest }) => digest));
  return FUNCTIONS.every(({ digest }) => digests.has(digest));
}

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
  'ledger/move-counters',
  'webhooks/make-id',
  'webhooks/record-task-event',
  'webhooks/record-low-balances',
  'ledger/write-charges',
  'ledger/settle-reservations',
  'ledger/time-of-id',
  'ledger/credit-has-reason',
  'ledger/credit-account',
  'ledger/refund-attempt',
  'ledger/earmark',
  'ledger/spare-room',
  'ledger/spare-amounts',
  'ledger/spare-amount',
  'ledger/reserve-attempt',
  'keys/find-api-key',
  'tasks/begin-task',
  'tasks/end-task',
  'redeem/code-has-reason',
  'idempotency/find-keys',
  'idempotency/keep-answers',
  'idempotency/claim-keys',
  'idempotency/give-up-undone-calls',
  'chat/open-calls',
  'chat/begin-calls',
  'chat/may-all-begin',
  'usage/correct-usage',
  'chat/settle-late-call',
  'chat/complete-calls',
  'chat/correct-calls',
  'chat/move-calls',
  'chat/settle-abandoned-calls',
  'retention/remove-audit-entries',
  'retention/remove-calls',
  'retention/remove-attempts',
];

interface SqlFunction {
  name: string;
  text: string;
  /** Tells one text from another. */
  digest: string;
}

/**
 * The functions that processes call. They run with the rights of the owner of the tables, so that a process
 * needs no right to write a counter or a transfer in any other way.
 */
export const CALLED_FUNCTIONS = [
  'begin_task',
  'code_has_reason', // by a trigger, too
  'correct_usage', // by a trigger
  'credit_account',
  'credit_has_reason', // by a trigger, too
  'earmark',
  'end_task',
  'find_api_key',
  'find_keys',
  'move_calls',
  'refund_attempt',
  'remove_attempts',
  'remove_audit_entries',
  'remove_calls',
  'reserve_attempt',
  'settle_abandoned_calls',
  'spare_amount',
] as const;

const FUNCTIONS: readonly SqlFunction[] = FILES.map((file) => {
  const text = readFileSync(new URL(`${file}.sql`, import.meta.url), 'utf8');
  const digest = createHash('sha256').update(text).digest('hex');
  return { name: file.replace(/^.*\//, '').replaceAll('-', '_'), text, digest };
});

/** Serialises installations. */
export const INSTALLATION_LOCK = 7_262_113;

/**
 * Creates or replaces the functions whose text is not the one installed last; answers their names. What was
 * ever installed is remembered, so that a process of the release before stays ready during a deployment.
 */
export async function installFunctions(database: Database): Promise<string[]> {
  return database.em.fork().transactional(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${INSTALLATION_LOCK})`);
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
    await guardFunctions(tx);
    return changed.map(({ name }) => name);
  });
}

/** Whether this code's text of every function was installed, by this release or before a later one. */
export async function areFunctionsInstalled(em: Em): Promise<boolean> {
  const rows = await em.execute<{ digest: string }[]>(sql`select digest from sql_function`);
  const digests = new Set(rows.map(({ digest }) => digest));
  return FUNCTIONS.every(({ digest }) => digests.has(digest));
}

/**
 * Lets the called functions run as their owner, who is the only one to call the others. Their search path is
 * fixed: a table that a caller made for its session must not stand in the place of ours.
 */
async function guardFunctions(tx: Em): Promise<void> {
  const names = FUNCTIONS.map(({ name }) => name).join();
  const found = await tx.execute<{ isCalled: boolean; signature: string; schema: string }[]>(sql`
    select proname = any(string_to_array(${CALLED_FUNCTIONS.join()}, ',')) as "isCalled",
           oid::regprocedure::text as signature, quote_ident(current_schema()) as schema
    from pg_proc
    where pronamespace = current_schema()::regnamespace and proname = any(string_to_array(${names}, ','))
      and (not prosecdef or proacl is null)`);
  const statements = found.flatMap(({ isCalled, signature, schema }) => [
    `revoke execute on function ${signature} from public`,
    ...(isCalled
      ? [`alter function ${signature} security definer set search_path = ${schema}, pg_temp`]
      : []),
  ]);
  if (statements.length > 0) await tx.execute(statements.join(';\n'));
}

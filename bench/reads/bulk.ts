// Writing millions of rows at once: without the indexes, which are made again as they were.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../../db/database.ts';

interface Index {
  name: string;
  definition: string;
}

/**
 * Does the work while these tables have no indexes but their primary keys. Throws when they have others
 * afterwards than before. `em` has one connection.
 */
export async function withoutIndexes(
  em: Em,
  tables: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  const before = await listIndexes(em, tables);
  for (const { name } of before) await em.execute(`drop index ${name}`);
  await work();
  await em.execute(`set maintenance_work_mem = '512MB'`);
  for (const { definition } of before) await em.execute(definition);
  const after = await listIndexes(em, tables);
  if (JSON.stringify(after) !== JSON.stringify(before)) throw new Error('the indexes are not what they were');
}

/** Those that are no constraint's. */
async function listIndexes(em: Em, tables: readonly string[]): Promise<Index[]> {
  return em.execute<Index[]>(sql`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
    where i.indrelid in (select t::regclass from jsonb_array_elements_text(${JSON.stringify(tables)}::jsonb) t)
      and not exists (select from pg_constraint c where c.conindid = i.indexrelid)
    order by 1`);
}

/** Lets the server write much at once; `usual` is as it was. Both for all connections. */
const SERVER = {
  much: [
    ...[`max_wal_size = '16GB'`, `checkpoint_timeout = '1h'`, 'full_page_writes = off', 'autovacuum = off'],
  ],
  usual: ['max_wal_size', 'checkpoint_timeout', 'full_page_writes', 'autovacuum'],
};

/** Does the work while the server spares what only later crashes and reads need. */
export async function inBulk<Result>(em: Em, work: () => Promise<Result>): Promise<Result> {
  for (const setting of SERVER.much) await em.execute(`alter system set ${setting}`);
  await em.execute('select pg_reload_conf()');
  try {
    return await work();
  } finally {
    for (const name of SERVER.usual) await em.execute(`alter system reset ${name}`);
    await em.execute('select pg_reload_conf()');
    await em.execute('checkpoint');
  }
}

/** The columns of a table that a copied row gets other values in, as expressions of SQL. */
export type Changes = Readonly<Record<string, string>>;

/**
 * Writes a copy of rows of `table` for each row `m` of `plan`: those rows `p` whose `of` is `m.sample`. What
 * `changes` names is written so; times move by `m.shift`; all else is as the product wrote it.
 */
export async function copyRows(
  em: Em,
  { table, of, plan, changes }: { table: string; of: string; plan: string; changes: Changes },
): Promise<void> {
  const columns = await em.execute<{ name: string; type: string }[]>(sql`
    select attname as name, format_type(atttypid, null) as type from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attidentity = '' order by attnum`);
  const unknown = Object.keys(changes).filter((name) => !columns.some((column) => column.name === name));
  if (unknown.length > 0) throw new Error(`${table} has no column ${unknown.join(', ')}`);
  const values = columns.map(
    ({ name, type }) => changes[name] ?? (type.startsWith('timestamp') ? `p.${name} + m.shift` : `p.${name}`),
  );
  await em.execute(`create temporary table sample_rows as select *, ${of} as sample_id from ${table}
    where ${of} in (select distinct sample from ${plan})`);
  await em.execute(`insert into ${table} (${columns.map(({ name }) => name).join(', ')})
    select ${values.join(', ')} from ${plan} m join sample_rows p on p.sample_id = m.sample order by m.n`);
  await em.execute('drop table sample_rows');
}

// Violations of invariants, kept until they are resolved, so that any process can report them.
import { sql } from '@mikro-orm/postgresql';
import type { Violation } from './rules.ts';
import type { Em } from '../database.ts';

/** What was looked at completely: accounts, or the subjects of rules in an interval; null: to the last. */
export type Looked =
  | { userIds: readonly string[] }
  | { rules: readonly string[]; after: string; upTo: string | null };

/** Records what was found; violations of what was looked at that were not found again are resolved. */
export async function recordViolations(
  em: Em,
  violations: readonly Violation[],
  looked: Looked,
): Promise<void> {
  await em.execute(sql`
    with found as (
      select distinct on (rule, subject) rule, subject, "userId" as user_id
      from jsonb_to_recordset(${JSON.stringify(violations)}::jsonb) as v (rule text, subject text, "userId" text)
    ), written as (
      insert into ledger_violation (rule, subject, user_id) select rule, subject, user_id from found
      on conflict (rule, subject) do update set last_seen_at = now(), resolved_at = null
    )
    update ledger_violation v set resolved_at = now()
    where v.resolved_at is null and ${within(looked)}
      and not exists (select 1 from found f where f.rule = v.rule and f.subject = v.subject)`);
}

function within(looked: Looked) {
  if ('userIds' in looked)
    return sql`v.user_id in (select jsonb_array_elements_text(${JSON.stringify(looked.userIds)}::jsonb))`;
  const { rules, after, upTo } = looked;
  const until = upTo === null ? sql`true` : sql`v.subject <= ${upTo}`;
  const isOne = sql`v.rule in (select jsonb_array_elements_text(${JSON.stringify(rules)}::jsonb))`;
  return sql`${isOne} and v.user_id is null and v.subject > ${after} and ${until}`;
}

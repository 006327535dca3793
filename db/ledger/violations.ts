// Violations of invariants, kept until they are resolved, so that any process can report them.
import { sql } from '@mikro-orm/postgresql';
import type { Violation } from './invariants.ts';
import type { Em } from '../database.ts';

/** Records what one check found; violations that it no longer found are resolved. */
export async function recordViolations(em: Em, violations: readonly Violation[]): Promise<void> {
  await em.execute(sql`
    with found as (
      select rule, subject, "userId" as user_id
      from jsonb_to_recordset(${JSON.stringify(violations)}::jsonb) as v (rule text, subject text, "userId" text)
    ), written as (
      insert into ledger_violation (rule, subject, user_id) select rule, subject, user_id from found
      on conflict (rule, subject) do update set last_seen_at = now(), resolved_at = null
    )
    update ledger_violation v set resolved_at = now()
    where v.resolved_at is null
      and not exists (select 1 from found f where f.rule = v.rule and f.subject = v.subject)`);
}

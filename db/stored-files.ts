// All files that the attempts of a task have stored.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';

/** The outputs of the task `t`, and what attempts of it had stored that did not become its result. */
export function storedFiles(): RawQueryFragment {
  return sql`t.outputs || coalesce(
    (select jsonb_agg(o) from submission s, jsonb_array_elements(s.outputs) o
     where s.task_id = t.id and not t.outputs @> jsonb_build_array(o)), '[]')`;
}

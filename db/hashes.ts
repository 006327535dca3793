// Looking for rows by a keyed hash that any key of the ring may have made.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';

/** The right side of a condition, as in `hash = ${oneOf(hashes)}`; the index of the column serves it. */
export function oneOf(hashes: readonly Buffer[]): RawQueryFragment {
  const texts = JSON.stringify(hashes.map((hash) => hash.toString('hex')));
  return sql`any(array(select decode(value, 'hex') from jsonb_array_elements_text(${texts}::jsonb)))`;
}

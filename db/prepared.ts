// Hot statements: parsed and planned once per connection, and run with parameters on the driver's own pool.
import { storableText } from '../domain/storable-text.ts';
import { driverPoolOf } from './pool.ts';
import type { Em } from './database.ts';

/** What a parameter may be: arrays are sent as arrays of PostgreSQL, amounts as numbers of any size. */
export type Parameter =
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | null
  | readonly (string | number | bigint | boolean | null)[];

/**
 * Makes a statement with the parameters `$1`, `$2`… into a function. `name` tells it from all others. In a
 * transaction of `em` it runs there; else on any connection of the pool, where the connection that ran it
 * before knows it. All limits of `openDatabase` hold. A migration may give its rows another column meanwhile.
 */
export function prepare<Row extends object>(
  name: string,
  text: string,
): (em: Em, values: readonly Parameter[]) => Promise<Row[]> {
  let version = 1;
  return async (em, values) => {
    if (em.isInTransaction()) {
      const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] } as const;
      const compiled = { sql: text, parameters: [...values], query, queryId: { queryId: name } };
      const { rows } = await em.getKysely().executeQuery<Row>(compiled);
      return rows;
    }
    const pool = await driverPoolOf(em);
    const asked = version;
    const ask = () => pool.query<Row>({ name: `${name} ${version}`, text, values });
    const { rows } = await ask().catch((error: unknown) => {
      if (!hasOtherColumns(error)) throw error;
      if (version === asked) version += 1; // under a new name it is parsed anew; it has not run
      return ask();
    });
    return rows;
  };
}

/** A value as JSON whose texts can all be stored. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!UNSTORABLE.test(json)) return json;
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'string' ? storableText(member) : member,
  );
}

/** What JSON escapes and `jsonb` refuses: NUL, and half characters. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/** PostgreSQL's `cached plan must not change result type`: the connection knows the statement as it was. */
function hasOtherColumns(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '0A000';
}

// The rows of a summary on their way from the database, as lists.
import { expect } from 'chai';
import { sql } from '@mikro-orm/postgresql';
import { forkEm } from '../../../db/database.ts';
import { LISTS, readInterval, type StoredInterval } from '../../../db/usage/intervals.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

describe('the lists of an interval', () => {
  let test: TestDatabase;

  before(async () => {
    test = await createDatabase();
  });
  after(() => test.drop());

  it('are read back into rows: each figure in its column, groups in their order, amounts exactly', async () => {
    const [stored] = await forkEm(test.database).execute<StoredInterval[]>(sql`
      select '2026-05-01T00:00:00Z'::timestamptz as start, ${LISTS} from (values
        ('b', 9007199254740993, -1, 1, 2, 3, 4, 5, 6, 7.25),
        (null, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        ('a","', -8999999999999999, 9223372036854775807, 11, 12, 13, 9007199254740991, 15, 16.00, 17)
      ) r ("group", credits, loss, tasks, calls, failed, prompt_tokens, completion_tokens, images, seconds)`);
    if (!stored) throw new Error('the database answered nothing');
    const start = new Date('2026-05-01T00:00:00Z');
    expect(readInterval(stored)).to.deep.equal([
      {
        ...{ start, group: 'a","', credits: -8999999999999999n, loss: 9223372036854775807n },
        ...{ tasks: 11, calls: 12, failed: 13, promptTokens: 9007199254740991, completionTokens: 15 },
        ...{ images: 16, seconds: 17 },
      },
      {
        ...{ start, group: 'b', credits: 9007199254740993n, loss: -1n, tasks: 1, calls: 2, failed: 3 },
        ...{ promptTokens: 4, completionTokens: 5, images: 6, seconds: 7.25 },
      },
      {
        ...{ start, group: null, credits: 0n, loss: 0n, tasks: 0, calls: 0, failed: 0 },
        ...{ promptTokens: 0, completionTokens: 0, images: 0, seconds: 0 },
      },
    ]);
  });

  it('come from sums that fail rather than be wrong', async () => {
    const tooMuch = forkEm(test.database).execute(
      `select add_up(x) from (values (9223372036854775807::bigint), (1)) v (x)`,
    );
    const error: unknown = await tooMuch.catch((thrown: unknown) => thrown);
    expect(String(error)).to.include('out of range');
  });
});

// What of usage is not computed: it is told by name, and not as a failure of the database.
import { expect } from 'chai';
import { forkEm } from '../../../db/database.ts';
import { countFailures } from '../../../db/usage/failures.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

const ALL = { userId: null, from: new Date(0), to: null };

describe('what of usage is not computed', () => {
  let database: TestDatabase;

  before(async () => {
    database = await createDatabase();
  });
  after(() => database.drop());

  it('failures of a period in which there are too many to count in time', async () => {
    const answer = await forkEm(database.database)
      .transactional(async (tx) => {
        await tx.execute(`
        create temp view task as
        select 'failed' as status, 'x' as error_code, 'usr_1' as user_id, now() as completed_at from pg_sleep(60)`);
        await tx.execute(`set local statement_timeout = '50ms'`);
        return countFailures(tx, ALL);
      })
      .catch((error: unknown) => error);
    expect(answer).to.equal('too_slow');
  });

  it('any other failure of the database stays one', async () => {
    const counting = forkEm(database.database).transactional(async (tx) => {
      await tx.execute(`create temp view task as select 'failed' as status`);
      return countFailures(tx, ALL);
    });
    const error: unknown = await counting.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.have.property('code', '42703');
  });
});

// The hash of an API key that is used moves to the newest key of the ring, so that the older one can leave.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { countDependents } from '../../../db/key-rotation.ts';
import { createApiKey } from '../../../db/keys/api-keys.ts';
import { findApiKey } from '../../../db/keys/find-key.ts';
import { HashRenewals } from '../../../db/keys/hash-renewals.ts';
import { Secrets, type SecretKey } from '../../../db/secrets.ts';
import { createLog } from '../../../log.ts';
import { createOwner } from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { forkEm } from '../../../db/database.ts';

describe('the hash of an API key', () => {
  const [old, fresh] = ['old', 'fresh'].map((id): SecretKey => ({ id, bytes: randomBytes(32) }));
  if (!old || !fresh) throw new Error('two keys were expected');
  const log = createLog({ process: 'test', level: 'silent' });
  const [before_, during, after_] = [[old], [fresh, old], [fresh]].map((ring) => new Secrets(ring));
  let stored: TestDatabase;
  let key: { id: string; key: string };

  before(async () => {
    stored = await createDatabase();
  });
  after(() => stored.drop());
  beforeEach(async () => {
    if (!before_) throw new Error('there is no ring');
    key = await createApiKey(em(), before_, { userId: await createOwner(em(), 0n), name: 'Night jobs' });
  });

  const em = () => forkEm(stored.database);
  const find = (secrets = during) => secrets && findApiKey(em(), secrets, key.key);
  const use = async (renewals: HashRenewals): Promise<void> => {
    const found = await find();
    if (!found) throw new Error('the key is unknown');
    renewals.note(found.key, key.key);
  };
  const renewalsWith = (secrets = during): HashRenewals => {
    if (!secrets) throw new Error('there is no ring');
    return new HashRenewals(stored.database, secrets, log);
  };

  it('is renewed once it was used; then the older key is needed no more', async () => {
    const renewals = renewalsWith();
    expect(await countDependents(em(), [fresh, old])).to.deep.include({
      ...{ secretKeyId: 'old', isInRing: true, what: 'API keys', rows: 1 },
    });
    expect(await find(after_)).to.equal(null);
    await use(renewals);
    await renewals.flush();
    expect((await find(after_))?.key).to.include({ id: key.id, secretKeyId: 'fresh' });
    expect(await find(), 'with both keys in the ring').not.to.equal(null);
    expect(await countDependents(em(), [fresh, old])).to.deep.equal([]);
  });

  it('is left alone while another transaction holds the row, and is renewed at its next use', async () => {
    const renewals = renewalsWith();
    await em().transactional(async (tx) => {
      await tx.execute(sql`select 1 from api_key where id = ${key.id} for update`);
      await use(renewals);
      await renewals.flush();
    });
    expect(await find(after_)).to.equal(null);
    await use(renewals);
    await renewals.stop();
    expect(await find(after_)).not.to.equal(null);
  });
});

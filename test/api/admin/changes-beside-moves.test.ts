// Administrators change a user whose credits move at the same moment: neither has to give way.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createAdministrator, makeCode } from '../../support/administrators.ts';
import type { Answer } from '../../support/http/http.ts';
import { untilWaitingForLocks } from '../../support/lock-waits.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

describe('a change of a user', () => {
  let gateway: TestGateway;
  let chief: TestUser;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    chief = await createAdministrator(gateway);
  });
  beforeEach(async () => {
    owner = await gateway.createUser(0);
  });
  after(() => gateway.stop());

  const untilWaiting = (count: number) => untilWaitingForLocks(gateway.em(), count);

  /** Sends both while the account is locked, so that the second comes to wait for the first. */
  async function together(
    first: () => Promise<Answer>,
    second: () => Promise<Answer>,
  ): Promise<[number, number]> {
    const answers: Promise<Answer>[] = [];
    await gateway.em().transactional(async (tx) => {
      await tx.execute(sql`select 1 from account where user_id = ${owner.id} for update`);
      answers.push(first());
      await untilWaiting(1);
      answers.push(second());
      await untilWaiting(2);
    });
    const [one, other] = await Promise.all(answers);
    return [one?.status ?? 0, other?.status ?? 0];
  }

  it('is made while the user redeems a code, which is redeemed', async () => {
    const { code } = await makeCode(chief);
    const statuses = await together(
      () => owner.session.post('/api/redeem', { code }),
      () => chief.session.patch(`/api/admin/users/${owner.id}`, { disabled: true }),
    );
    expect(statuses).to.deep.equal([200, 200]);
    const { data } = (await chief.session.get(`/api/admin/users/${owner.id}`)).body;
    expect(data).to.include({ disabled: true, balance: 10 });
  });
});

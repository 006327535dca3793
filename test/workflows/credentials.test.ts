// Several accounts at one vendor: cooldowns, jobs that stay with their credential, and limits that make work
// wait.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { listCredentialLoad } from '../../db/tasks/credentials.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { orderVideo } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

const FAMILY = 'grok';

describe('several credentials of one family', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  const ids = (): string[] => gateway.config.families[FAMILY]?.credentials.map(({ id }) => id) ?? [];

  before(async () => {
    gateway = await startGateway({
      env: { GROK_API_KEY: 'first-key,second-key', GROK_JOBS_PER_CREDENTIAL_MAX: '2' },
    });
    owner = await gateway.createUser(10_000);
  });
  afterEach(async () => {
    await gateway.em().execute('delete from credential_rest');
    await gateway.expectSoundMoney();
  });
  after(() => gateway.stop());

  it('share the work, and each job is looked after by the one that took it', async () => {
    const tasks = await Promise.all([
      orderVideo(owner.session, 'seconds=1'),
      orderVideo(owner.session, 'seconds=1'),
    ]);
    for (const { id } of tasks)
      expect(await untilFinal(owner.session, id)).to.include({ status: 'completed' });
    const used = await Promise.all(tasks.map(({ id }) => credentialOf(id)));
    expect(used).to.have.members(ids());
  });

  for (const [directive, reason] of [
    ['submit=401*1', 'auth'],
    ['submit=402*1', 'quota'],
    ['submit=429*1', 'rate'],
  ] as const)
    it(`pass over the one that answered ${directive}, and the next one does the work`, async () => {
      const { id } = await orderVideo(owner.session, `seconds=0 ${directive}`);
      expect(await untilFinal(owner.session, id)).to.include({ status: 'completed' });
      const [first, second] = ids();
      // A cooldown because of the rate lasts a second, which a busy machine may need for the next try.
      expect(await credentialOf(id)).to.be.oneOf(reason === 'rate' ? [first, second] : [second]);
      const rests = await gateway.em().execute('select credential, reason from credential_rest');
      expect(rests).to.deep.equal([{ credential: first, reason }]);
    });

  it('fail the task, uncharged, when all of them are in the same trouble', async () => {
    const { id } = await orderVideo(owner.session, 'submit=401');
    const task = await untilFinal(owner.session, id);
    expect(task).to.include({ status: 'failed', errorCode: 'upstream_error', creditsCharged: 0 });
    expect(await listCredentialLoad(gateway.em())).to.have.length(2);
  });

  it('have as many jobs at once as they may have; further work waits and is done', async () => {
    const tasks = await Promise.all(Array.from({ length: 7 }, () => orderVideo(owner.session, 'seconds=1')));
    let most = 0;
    await until('all have ended', async () => {
      for (const { jobs } of await listCredentialLoad(gateway.em())) most = Math.max(most, jobs);
      const { body } = await owner.session.get('/api/tasks?limit=7');
      return body.data.every(({ status }: { status: string }) => status === 'completed');
    });
    expect(most).to.equal(2);
    expect(await Promise.all(tasks.map(({ id }) => credentialOf(id)))).to.include.members(ids());
  });

  async function credentialOf(taskId: string): Promise<string | undefined> {
    const [row] = await gateway
      .em()
      .execute<{ credential: string }[]>(
        sql`select credential from submission where task_id = ${taskId} order by attempt desc limit 1`,
      );
    return row?.credential;
  }
});

// A vendor that takes long for every image: other users' work and cancellations do not wait for it.
import { expect } from 'chai';
import { createCleanup } from '../support/cleanup.ts';
import { startGateway, type TestGateway } from '../support/servers/gateway.ts';
import { startWorkerProcess } from '../support/servers/process.ts';
import { orderImage } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

const USERS = 4;
const IMAGES = 20;
/** Bounds with room for a busy machine; `npm run bench -- slow-vendor` measures against the goals. */
const INSTANT_LIMIT_MS = 15_000;

describe('eighty slow images of four users', function () {
  this.timeout(300_000);
  const cleanup = createCleanup();
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false });
    cleanup.later(() => gateway.stop());
    const worker = await startWorkerProcess(gateway.env);
    cleanup.later(() => worker.kill());
  });
  after(() => cleanup.run());

  it('keep neither a fifth user’s instant image nor a cancellation waiting', async () => {
    const users = await Promise.all(Array.from({ length: USERS }, () => gateway.createUser(1_000)));
    const running = await Promise.all(
      users.map(async (user) => {
        const tasks = [];
        for (let each = 0; each < IMAGES; each += 1)
          tasks.push(await orderImage(user.session, 'seconds=120'));
        return tasks;
      }),
    );
    const [first] = users;
    if (!first) throw new Error('there is a first user');
    await until(
      'all are with the vendor',
      async () => {
        const [row] = await gateway
          .em()
          .execute<{ count: number }[]>(
            `select count(*)::int as count from submission where state = 'sending'`,
          );
        return row?.count === USERS * IMAGES;
      },
      90_000,
    );
    const fifth = await gateway.createUser();
    const instant = await orderImage(fifth.session);
    expect(await untilFinal(fifth.session, instant.id, INSTANT_LIMIT_MS)).to.include({ status: 'completed' });

    const { status, body } = await first.session.delete(`/api/tasks/${running[0]?.[0]?.id}`);
    expect(status).to.equal(200);
    expect(body.data).to.include({ status: 'cancelled', creditsCharged: 0 });
    await gateway.expectSoundMoney();
  });
});

// Receivers that hang: those of some users keep no delivery of another user waiting, neither first attempts
// nor later ones.
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { until } from '../support/until.ts';
import { makeWebhook, startReceiver, untilDelivery, type Receiver } from '../support/webhooks.ts';

/** Fewer than half of what hangs of each sort, which is what six endpoints have to get. */
const ATTEMPTS_MAX = 20;
const HANGING_ENDPOINTS = 2;
const DELIVERIES = 8;
/** Less than a receiver may hang. */
const ARRIVAL_LIMIT_MS = 12_000;

describe('webhooks to receivers that hang', function () {
  this.timeout(90_000);
  let gateway: TestGateway;
  let hanging: Receiver;
  let receiver: Receiver;

  before(async () => {
    gateway = await startGateway({
      worker: false,
      webhooks: { attemptsMax: ATTEMPTS_MAX, retryDelaysMs: [50, 50] },
    });
    hanging = await startReceiver(() => undefined);
    receiver = await startReceiver((res, { seen }) => void res.writeHead(seen === 1 ? 500 : 204).end());
  });
  after(async () => {
    await hanging.close();
    await receiver.close();
    await gateway.stop();
  });

  /** Gives a user endpoints that hang, with deliveries whose first attempt is due, or a later one. */
  const makeHanging = async ({ id: userId, session }: TestUser, attemptsMade: 0 | 1): Promise<void> => {
    for (let endpoints = 0; endpoints < HANGING_ENDPOINTS; endpoints += 1) {
      const { id } = await makeWebhook(session, { url: `${hanging.url}/${attemptsMade}` });
      await gateway.em().execute(`
        with made as materialized (
          select make_id('evt') as event_id, make_id('dlv') as id from generate_series(1, ${DELIVERIES})
        ), recorded as (
          insert into webhook_event (id, user_id, type, data)
          select event_id, '${userId}', 'webhook.test', '{}' from made
        )
        insert into webhook_delivery (id, event_id, endpoint_id, user_id, attempts)
        select id, event_id, '${id}', '${userId}', ${attemptsMade} from made`);
    }
  };

  it('delay no first attempt and no later one of another user', async () => {
    for (let users = 0; users < 3; users += 1)
      for (const attemptsMade of [0, 1] as const) await makeHanging(await gateway.createUser(), attemptsMade);
    await gateway.startWorker();
    const taken = (path: string): number => hanging.at(path).length;
    await until('all runs have been started, and places are taken', async () => {
      const [row] = await gateway.em().execute<{ waiting: string }[]>(
        `select count(*) as waiting from webhook_delivery
         where attempts > 0 and relay_after < now() + interval '1 minute'`,
      );
      return row?.waiting === '0' && ['/0', '/1'].every((path) => taken(path) >= ATTEMPTS_MAX / 2);
    });
    const quick = await gateway.createUser();
    const { id } = await makeWebhook(quick.session, { url: receiver.url });
    await quick.session.post(`/api/webhooks/${id}/test`);
    await receiver.until('/', 2, ARRIVAL_LIMIT_MS);
    expect(await untilDelivery(quick.session, id, 'delivered')).to.include({ attempts: 2 });
  });
});

// The internal listener: liveness, readiness and metrics.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { sql } from '@mikro-orm/postgresql';
import { createHealthServer } from '../../../api/monitoring/health.ts';
import { openProbe } from '../../../db/probe.ts';
import { activitiesOf } from '../../support/servers/engine.ts';
import { startGateway, type TestGateway } from '../../support/servers/gateway.ts';
import type { Database } from '../../../db/database.ts';

describe('the internal listener', () => {
  let gateway: TestGateway;
  let health: Server;
  let probe: Database;
  let stopping = false;

  before(async () => {
    gateway = await startGateway({ worker: false });
    probe = openProbe(gateway.config.databaseUrl);
    health = createHealthServer(gateway.services, probe, () => stopping);
    await new Promise<void>((resolve) => health.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    health.close();
    health.closeAllConnections();
    await probe.close();
    await gateway.stop();
  });

  const get = (path: string) => fetch(`http://127.0.0.1:${(health.address() as AddressInfo).port}${path}`);
  const metrics = async () => (await get('/metrics')).text();

  it('is alive, and ready as long as it is not told to stop', async () => {
    expect((await get('/livez')).status).to.equal(200);
    expect((await get('/readyz')).status).to.equal(200);
    stopping = true;
    expect((await get('/readyz')).status).to.equal(503);
    expect((await get('/livez')).status).to.equal(200);
    stopping = false;
    expect((await get('/other')).status).to.equal(404);
  });

  it('counts broken rules of money and frozen accounts, until they are in order again', async () => {
    const { checkInvariants } = activitiesOf(gateway);
    const user = await gateway.createUser(10);
    expect(await metrics())
      .to.include('svc_accounts_frozen 0')
      .and.not.include('svc_ledger_violations{');
    await gateway.em().execute(sql`update account set reserved = 1 where user_id = ${user.id}`);
    await checkInvariants();
    expect(await metrics())
      .to.include('svc_ledger_violations{rule="reserved is the sum of open reservations"} 1')
      .and.include('svc_accounts_frozen 1');
    await gateway.em().execute(sql`update account set reserved = 0 where user_id = ${user.id}`);
    await checkInvariants();
    expect(await metrics()).not.to.include('svc_ledger_violations{');
  });
});

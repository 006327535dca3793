// The internal listener of the worker: alive, ready, and what it counts.
import { expect } from 'chai';
import { createCleanup } from '../support/cleanup.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { startWorkerProcess, type TestProcess } from '../support/servers/process.ts';
import { orderImage, untilSubmitted } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

describe('the worker’s internal listener', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;
  let owner: TestUser;
  let worker: TestProcess;
  let url: string;

  before(async () => {
    gateway = await startGateway({ worker: false });
    cleanup.later(() => gateway.stop());
    owner = await gateway.createUser();
    worker = await startWorkerProcess(gateway.env);
    cleanup.later(() => worker.kill());
    const { internalPort } = JSON.parse(worker.readyLine) as { internalPort: number };
    url = `http://127.0.0.1:${internalPort}`;
  });
  after(() => cleanup.run());

  it('is alive and ready', async () => {
    expect((await fetch(`${url}/livez`)).status).to.equal(200);
    const ready = await fetch(`${url}/readyz`);
    expect(ready.status).to.equal(200);
    expect(await ready.json()).to.deep.equal({ status: 'ok', database: 'ok', temporal: 'ok', worker: 'ok' });
  });

  it('counts calls to vendors by outcome, activities, and tasks by their end', async () => {
    const [good, bad] = [
      await orderImage(owner.session, 'seconds=0'),
      await orderImage(owner.session, 'submit=400'),
    ];
    for (const { id } of [good, bad]) await untilFinal(owner.session, id);
    const text = await until('both are counted', async () => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return metrics.includes('svc_tasks_ended_total{status="failed"} 1') && metrics;
    });
    expect(text)
      .to.include('svc_tasks_ended_total{status="completed"} 1')
      .and.include('svc_database_pool_connections_max 16')
      .and.include('nodejs_eventloop_lag_p99_seconds');
    for (const outcome of ['ok', 'invalid'])
      expect(text).to.include(
        `svc_upstream_call_duration_seconds_count{provider="openai-images",call="submit",outcome="${outcome}"} 1`,
      );
    expect(text).to.match(/svc_activity_duration_seconds_count\{activity="charge",outcome="ok"\} 1/);
  });

  it('is unready while it stops, and ends with 0', async () => {
    const slow = await orderImage(owner.session, 'seconds=5');
    await untilSubmitted(gateway, slow); // which keeps the worker from ending before it was asked
    const stopped = worker.stop();
    await until('it is unready', async () => (await fetch(`${url}/readyz`)).status === 503);
    expect((await fetch(`${url}/livez`)).status).to.equal(200);
    expect(await stopped).to.equal(0);
    await gateway.startWorker();
    // A worker that lost its hand-over is missed after the heartbeat's time-out.
    expect(await untilFinal(owner.session, slow.id)).to.include({ status: 'completed' });
  });
});

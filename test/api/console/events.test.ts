// GET /api/events: changes of tasks and of the balance as they happen, and what is missed is made up for.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createApp } from '../../../api/app.ts';
import { createWatcher } from '../../../api/events/watcher.ts';
import { createHttpServer } from '../../../api/http/http-server.ts';
import { openServices } from '../../../api/open-services.ts';
import { createSession } from '../../../db/identity/sessions.ts';
import { openEvents, type EventReader, type ReadEvent } from '../../support/http/event-reader.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { orderImage, orderVideo } from '../../support/tasks.ts';
import { until, untilFinal } from '../../support/until.ts';

describe('GET /api/events', () => {
  let gateway: TestGateway;
  let user: TestUser;
  const open: EventReader[] = [];

  before(async () => {
    gateway = await startGateway();
  });
  beforeEach(async () => {
    user = await gateway.createUser(1000);
  });
  afterEach(() => {
    for (const reader of open.splice(0)) reader.close();
  });
  after(() => gateway.stop());

  const tokenFor = (id = user.id) => createSession(gateway.em(), gateway.secrets, id);
  const follow = async (headers?: Record<string, string>, baseUrl = gateway.baseUrl) => {
    const reader = await openEvents(baseUrl, await tokenFor(), headers);
    open.push(reader);
    return reader;
  };
  const statusOf =
    (id: string, status: string) =>
    ({ event, data }: ReadEvent) =>
      event === 'task' && data.id === id && data.status === status;

  it('begins with the balance, and tells a browser when to come back', async () => {
    const reader = await follow();
    expect([reader.status, reader.headers.get('content-type')]).to.deep.equal([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    expect(reader.headers.get('cache-control')).to.equal('no-store');
    const first = await reader.next('there is an event', () => true);
    expect(first.event).to.equal('balance');
    expect(first.data).to.deep.equal({ balance: 1000, reserved: 0, available: 1000 });
    expect(reader.text()).to.match(/^retry: 3000\n/);
  });

  it('tells of every change of a task as GET /api/tasks lists it, and of the balance', async () => {
    const reader = await follow();
    const { id } = await orderImage(user.session, 'seconds=2');
    await reader.next('it is in progress', statusOf(id, 'in_progress'));
    await reader.next('something is reserved', ({ data }) => data.reserved === 4 && data.available === 996);
    const { data } = await reader.next('it is completed', statusOf(id, 'completed'));
    expect(data).to.deep.equal((await user.session.get('/api/tasks')).body.data[0]);
    await reader.next('it is charged', ({ data }) => data.balance === 996 && data.reserved === 0);
  });

  it('tells of a cancellation', async () => {
    const reader = await follow();
    const { id } = await orderVideo(user.session, 'seconds=30');
    await reader.next('it is in progress', statusOf(id, 'in_progress'));
    await user.session.delete(`/api/tasks/${id}`);
    const { data } = await reader.next('it is cancelled', statusOf(id, 'cancelled'));
    expect(data.cancelRequestedAt).to.be.a('string');
  });

  it('misses nothing from its first byte on, however long the database takes to look', async () => {
    const { events, log } = gateway.services;
    const usual = events.watcher;
    const { id } = await orderVideo(user.session, 'seconds=30');
    await until('it is in progress', async () => {
      const { data } = (await user.session.get(`/api/tasks/${id}`)).body;
      return data.status === 'in_progress';
    });
    const gate = Promise.withResolvers<void>();
    const read = async (...query: Parameters<typeof events.readChanges>) => {
      await gate.promise;
      return events.readChanges(...query);
    };
    events.watcher = createWatcher({ read, log });
    try {
      const reader = await follow();
      await gateway.em().execute(sql`update task set progress = 77 where id = ${id}`);
      gate.resolve();
      await reader.next('the change is told', ({ data }) => data.id === id && data.progress === 77);
    } finally {
      events.watcher.stop();
      events.watcher = usual;
    }
  });

  it('tells each user of their own alone', async () => {
    const other = await gateway.createUser(1000);
    const reader = await follow();
    const { id } = await orderImage(other.session);
    await untilFinal(other.session, id);
    const own = await orderImage(user.session);
    await reader.next('the own one is completed', statusOf(own.id, 'completed'));
    expect(reader.events.filter(({ data }) => data.id === id)).to.deep.equal([]);
  });

  it('resumes from Last-Event-ID: what changed in between is told', async () => {
    const reader = await follow();
    await reader.next('there is a mark', () => true);
    reader.close();
    const { id } = await orderImage(user.session);
    await untilFinal(user.session, id);
    const resumed = await follow({ 'last-event-id': reader.lastId() });
    await resumed.next('the end is told', statusOf(id, 'completed'));
    const fresh = await follow();
    await fresh.next('there is the balance', () => true);
    expect(fresh.events.filter(({ event }) => event === 'task')).to.deep.equal([]);
  });

  it('misses no change whose transaction commits long after it was made', async () => {
    const reader = await follow();
    const { id } = await orderImage(user.session);
    await reader.next('it is completed', statusOf(id, 'completed'));
    await gateway.em().transactional(async (tx) => {
      await tx.execute(sql`update task set output_text = 'late', updated_at = now() where id = ${id}`);
      // Without a word for ten seconds, a transaction is ended.
      const word = setInterval(() => void tx.execute(sql`select 1`), 1_000);
      try {
        const another = await orderImage(user.session);
        await reader.next('a later change is told first', statusOf(another.id, 'completed'));
      } finally {
        clearInterval(word);
      }
    });
    await reader.next('the late one is told too', ({ data }) => data.outputText === 'late');
  });

  for (const mark of ['', 'x', '-1', '0', '1e9', '999999999999999999', "'; select 1 --"])
    it(`begins anew with a mark that is none: ${JSON.stringify(mark)}`, async () => {
      const reader = await follow({ 'last-event-id': mark });
      expect((await reader.next('there is an event', () => true)).event).to.equal('balance');
      const { id } = await orderImage(user.session);
      await reader.next('it is completed', statusOf(id, 'completed'));
    });

  it('tells of what another API process has done', async () => {
    const second = openServices(gateway.config, gateway.database, gateway.services.log);
    const { server } = createHttpServer(createApp(second));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    second.publicUrl = () => gateway.baseUrl;
    const reader = await follow({}, `http://127.0.0.1:${port}`);
    const { id } = await orderImage(user.session);
    await reader.next('it is completed', statusOf(id, 'completed'));
    server.closeAllConnections();
    server.close();
    await second.taskWorkflows.close();
  });

  it('ends within 15 seconds of the logout', async () => {
    const token = await tokenFor();
    const reader = await openEvents(gateway.baseUrl, token);
    open.push(reader);
    await reader.next('it has begun', () => true);
    await fetch(`${gateway.baseUrl}/api/auth/logout`, {
      method: 'POST',
      headers: { cookie: `svc_session=${token}` },
    });
    await until('it has ended', async () => reader.hasEnded());
    expect((await openEvents(gateway.baseUrl, token)).status).to.equal(401);
  });

  it('ends when the user is disabled', async () => {
    const reader = await follow();
    await reader.next('it has begun', () => true);
    await gateway.em().execute(sql`update app_user set disabled_at = now() where id = ${user.id}`);
    await until('it has ended', async () => reader.hasEnded());
  });

  it('is refused with 429 as the fifth of a user, until one has ended', async () => {
    const four = await Promise.all([1, 2, 3, 4].map(() => follow()));
    const answer = await user.session.get('/api/events');
    expect([answer.status, answer.body.error.code]).to.deep.equal([429, 'rate_limited']);
    four[0]?.close();
    const again = await until('there is room', async () => {
      const reader = await follow();
      return reader.status === 200 && reader;
    });
    expect(again.status).to.equal(200);
  });

  it('is no request in flight for the overload guard', async () => {
    const { overload } = gateway.services;
    const inFlight = new Set<object>();
    gateway.services.overload = {
      ...overload,
      enter: (subject) => {
        const seat = overload.enter(subject);
        if (typeof seat === 'string') return seat;
        inFlight.add(seat);
        const leave = (): void => {
          inFlight.delete(seat);
          seat.leave();
        };
        return { ...seat, leave };
      },
    };
    const app = createHttpServer(createApp(gateway.services)).server;
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    const { port } = app.address() as { port: number };
    const reader = await follow({}, `http://127.0.0.1:${port}`);
    await reader.next('it has begun', () => true);
    expect(inFlight.size).to.equal(0);
    reader.close();
    await until('it has ended', async () => gateway.services.events.watcher.counts().followers === 0);
    expect(inFlight.size).to.equal(0);
    app.closeAllConnections();
    app.close();
    gateway.services.overload = overload;
  });
});

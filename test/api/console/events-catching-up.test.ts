// GET /api/events for a reader whose stream ends while it catches up with what it missed.
import { expect } from 'chai';
import { createSession } from '../../../db/identity/sessions.ts';
import { openEvents } from '../../support/http/event-reader.ts';
import { startGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';

describe('GET /api/events, resumed', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());

  it('reads no further page for a reader whose stream has ended while it caught up', async () => {
    const { events } = gateway.services;
    const { readChanges, streams } = events;
    const { id } = await gateway.createUser();
    const token = await createSession(gateway.em(), gateway.secrets, id);
    const gate = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const take: typeof streams.take = (userId) => {
      const release = streams.take(userId);
      return release && (() => over.resolve(release()));
    };
    events.streams = { ...streams, take };
    let pages = 0;
    events.readChanges = async (from, query) => {
      pages += 1;
      if (pages === 2) await gate.promise;
      const { position, ...changes } = await readChanges(from, query);
      const page = pages < 5 ? { until: position.snapshot, afterXid: '1', afterId: '' } : null;
      return { ...changes, position: { ...position, page } };
    };
    try {
      const reader = await openEvents(gateway.baseUrl, token, { 'last-event-id': '1' });
      await until('the second page is read', async () => pages === 2);
      await fetch(`${gateway.baseUrl}/api/auth/logout`, {
        method: 'POST',
        headers: { cookie: `svc_session=${token}` },
      });
      await until('it has ended', async () => reader.hasEnded());
      gate.resolve();
      await over.promise;
      expect(pages).to.equal(2);
    } finally {
      Object.assign(events, { readChanges, streams });
    }
  });

  it('reaches the end past changes of more megabytes than are kept for one reader', async () => {
    const user = await gateway.createUser(1_000);
    const prompt = 'a'.repeat(990_000);
    const ids: string[] = [];
    for (let count = 0; count < 8; count += 1) {
      const order = { mode: 'text', model: 'gpt-6-luna', max_tokens: 10, prompt };
      ids.push((await user.session.post('/api/tasks', order)).body.data.id);
    }
    const token = await createSession(gateway.em(), gateway.secrets, user.id);
    const reader = await openEvents(gateway.baseUrl, token, { 'last-event-id': '1' });
    try {
      await reader.next('the last task is told', ({ data }) => data.id === ids.at(-1));
      const told = reader.events.filter(({ event }) => event === 'task').map(({ data }) => data.id);
      expect(told).to.deep.equal(ids);
      expect(reader.hasEnded()).to.equal(false);
    } finally {
      reader.close();
    }
  });
});

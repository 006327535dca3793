// Lists of tasks whose prompts have megabytes: in pages that hold no other request up.
import { expect } from 'chai';
import { createAdministrator } from '../../support/administrators.ts';
import type { Answer } from '../../support/http/http.ts';
import { startGateway, type TestGateway } from '../../support/servers/gateway.ts';

const PROMPT = 'a'.repeat(990_000);
const TASKS = 7;

describe('a list of long conversations', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());

  it('comes in pages of a few megabytes, which together are all of it, for their owner and for administrators', async () => {
    const user = await gateway.createUser(1_000);
    const ids: string[] = [];
    for (let count = 0; count < TASKS; count += 1) {
      const order = { mode: 'text', model: 'gpt-6-luna', max_tokens: 10, prompt: PROMPT };
      ids.unshift((await user.session.post('/api/tasks', order)).body.data.id);
    }
    const administrator = await createAdministrator(gateway, ['tasks.read']);
    for (const [reader, path] of [
      [user.session, '/api/tasks?limit=100'],
      [administrator.session, `/api/admin/tasks?limit=100&userId=${user.id}`],
    ] as const) {
      const pages: string[][] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: Answer = await reader.get(`${path}${cursor && `&cursor=${cursor}`}`);
        expect(page.status).to.equal(200);
        expect(page.body.hasMore).to.equal(page.body.nextCursor !== null);
        pages.push(page.body.data.map(({ id }: { id: string }) => id));
        cursor = page.body.nextCursor;
      }
      expect(pages.flat(), path).to.deep.equal(ids);
      expect(Math.max(...pages.map(({ length }) => length)), path).to.equal(3);
    }
  });
});

// What the page announces, so that the browser loads it while the scripts are still on their way.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { FIRST_LOADS, FRAME_READS } from '../../console/app/first-loads.ts';
import { closeSound, type TestConsole } from '../support/console/browser.ts';
import { ended, order } from '../support/console/orders.ts';
import { until } from '../support/until.ts';
import { makeWebhook } from '../support/webhooks.ts';

const PAGES = readFileSync(new URL('../../console/app/pages.tsx', import.meta.url), 'utf8');
const LOADED = /const (\w+) = loaded\(\(\) => import\('\.\.\/pages\/([\w/]+)\.tsx'\)\)/g;
const ROUTE = /<Route path=\{(?:ROOT|`\$\{ROOT\}([\w/:]*)`)\} component=\{(\w+)\}/g;
const READ = /<link rel="preload" as="fetch" crossorigin href="(?:\.{1,2}\/)+([^"]+)"/g;
const SCRIPT = /(?:src|href)="[./]*\/assets\/([\w-]+\.js)"/g;
/** Asked for when the page has what it shows first. */
const AFTERWARDS = '/api/console';

export function testFirstLoads(tested: () => TestConsole): void {
  describe('announces what a page needs first', () => {
    it('by a table that names every page', () => {
      const sources = new Map([...PAGES.matchAll(LOADED)].map(([, name, source]) => [name, source]));
      const routes = [...PAGES.matchAll(ROUTE)].map(([, path = '', name]) => [
        path,
        sources.get(name) ?? null,
      ]);
      expect(routes).to.have.length.above(10);
      expect(FIRST_LOADS.map(({ path, source }) => [path, source])).to.deep.equal(routes);
    });

    it('to visitors with a session alone', async () => {
      const { baseUrl } = tested().gateway;
      const read = async (path: string, headers: Record<string, string>): Promise<string[]> => {
        const html = await (await fetch(`${baseUrl}/console/${path}`, { headers })).text();
        return [...html.matchAll(READ)].map(([, address = '']) => address);
      };
      const session = { cookie: 'svc_session=any' };
      expect(await read('tasks', {})).to.deep.equal([]);
      expect(await read('tasks', session)).to.deep.equal([...FRAME_READS, 'api/tasks?limit=50']);
      expect(await read('tasks/task_1', session)).to.deep.equal([...FRAME_READS, 'api/tasks/task_1']);
      expect(await read('credits', session)).to.include('api/balance?includeLedger=1&amp;limit=50');
      // A filter changes what is read. What is no id, or no page, is written into no address.
      expect(await read('tasks?status=failed', session)).to.deep.equal([]);
      for (const path of ['tasks/%22onload=', 'tasks/a.b', 'tasks/', 'nothing-here'])
        expect(await read(path, session), path).to.deep.equal([]);
    });

    it('and asks for all of it once, and for no other script', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const id = await order(user, 'a lighthouse');
      await ended(user, id);
      const { id: hook } = await makeWebhook(user.session, { url: 'http://127.0.0.1:9/hooks' });
      const page = await open(user, 'account', { language: 'zh' });
      for (const { path, reads } of FIRST_LOADS) {
        if (reads === undefined) continue;
        const place = path.replace(':id', path.startsWith('tasks') ? id : hook);
        const { announced, asked } = await openAndListen(page, `${gateway.baseUrl}/console/${place}`);
        expect(announced.reads, place).to.have.length(reads.length + FRAME_READS.length);
        for (const read of announced.reads)
          expect(
            asked.filter((url) => url === read),
            `${read} on ${place}`,
          ).to.have.length(1);
        const scripts = asked.filter((url) => url.endsWith('.js'));
        expect(announced.scripts, place).to.have.members(scripts);
      }
      await closeSound(page);
    });
  });
}

/** What the page at the address announces, and what it asks for until it has what it shows first. */
async function openAndListen(page: Page, url: string) {
  // What the page before it still asks for is none of this one's.
  await page.goto('about:blank');
  const asked: string[] = [];
  const listen = (request: { url: () => string }): void => {
    const { pathname, search } = new URL(request.url());
    asked.push(pathname.replace('/console/assets/', '') + search);
  };
  page.on('request', listen);
  const html = (await (await page.goto(url))?.text()) ?? '';
  await until('the page has what it shows first', async () => asked.includes(AFTERWARDS));
  page.off('request', listen);
  const announced = {
    reads: [...html.matchAll(READ)].map(([, address = '']) => `/${address.replaceAll('&amp;', '&')}`),
    scripts: [...html.matchAll(SCRIPT)].map(([, name = '']) => name),
  };
  return { announced, asked: asked.slice(0, asked.indexOf(AFTERWARDS)) };
}

// How the console is served: addresses, caching, policy, size, and behind a proxy with a path of its own.
import { request as forward } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { closeSound, type TestConsole } from '../support/console/browser.ts';
import { order } from '../support/console/orders.ts';
import { startProxy } from '../support/console/proxy.ts';
import { until } from '../support/until.ts';

/** Budgets in bytes, gzipped: what the first page loads, any further page, and everything. */
const FIRST_MAX = 45_000;
const PAGE_MAX = 12_000;
const ALL_MAX = 110_000;
const STYLES_MAX = 12_000;
/** Requests until the rows of the list of tasks are there. */
const REQUESTS_MAX = 6;
const ROWS = '/api/tasks';
/** How long the API takes for the rows, as on a machine that has much else to do. */
const SLOW_ANSWER_MS = 1_500;
/** Fetched by the browser at the lowest priority, at a moment of its own: no row waits for it. */
const ICON = /\/icon-\w+\.svg$/;
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: ORIGIN; media-src 'self' blob: ORIGIN; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

export function testServing(tested: () => TestConsole): void {
  describe('is served', () => {
    it('under /console/, where / leads', async () => {
      const { baseUrl } = tested().gateway;
      const answer = await fetch(`${baseUrl}/`, { redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).to.deep.equal([302, 'console/']);
      expect((await fetch(`${baseUrl}/`)).url).to.equal(`${baseUrl}/console/`);
      expect((await fetch(`${baseUrl}/console`)).url).to.equal(`${baseUrl}/console/`);
    });

    it('as the same page for every path below, with its policy, checked anew each time', async () => {
      const { baseUrl } = tested().gateway;
      const answer = await fetch(`${baseUrl}/console/tasks/task_1`);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(answer.headers.get('content-security-policy')).to.equal(POLICY.replaceAll('ORIGIN', baseUrl));
      expect(answer.headers.get('cache-control')).to.equal('no-cache');
      expect(await answer.text()).to.include('src="../assets/');
      const etag = answer.headers.get('etag') ?? '';
      const again = await fetch(`${baseUrl}/console/tasks/task_1`, {
        headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' },
      });
      expect(again.status).to.equal(304);
    });

    it('with files that never change under their names, compressed as the browser can read them', async () => {
      const { baseUrl } = tested().gateway;
      const [name] = await readAssets(baseUrl);
      for (const encoding of ['br', 'gzip']) {
        const answer = await fetch(`${baseUrl}/console/assets/${name}`, {
          headers: { 'accept-encoding': encoding },
        });
        expect(answer.headers.get('content-encoding')).to.equal(encoding);
        expect(answer.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      }
      expect(
        (await fetch(`${baseUrl}/console/assets/../manifest.json`)).headers.get('content-type'),
      ).to.include('html');
      expect((await fetch(`${baseUrl}/console/assets/nothing.js`)).status).to.equal(404);
      expect((await fetch(`${baseUrl}/console/`, { method: 'POST' })).status).to.equal(405);
    });

    it('within its budgets of bytes', async () => {
      const { baseUrl } = tested().gateway;
      const first = await readAssets(baseUrl);
      const sizes = await readSizes(baseUrl, first);
      const scripts = [...sizes].filter(([name]) => name.endsWith('.js'));
      const styles = [...sizes].filter(([name]) => name.endsWith('.css'));
      const loaded = scripts.filter(([name]) => first.includes(name));
      const further = scripts.filter(([name]) => !first.includes(name));
      expect(sum(loaded)).to.be.within(1, FIRST_MAX);
      expect(sum(styles)).to.be.within(1, STYLES_MAX);
      expect(sum(scripts)).to.be.within(1, ALL_MAX);
      for (const [name, bytes] of further) expect(bytes, name).to.be.at.most(PAGE_MAX);
    });

    it('with at most six requests until the rows are there, however long they take, and no font', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      await order(user, 'the first row');
      const page = await (await open(user, 'account')).context().newPage();
      const requested: string[] = [];
      let untilRows: string[] = [];
      page.on('request', (request) => requested.push(new URL(request.url()).pathname));
      page.on('response', (response) => {
        if (new URL(response.url()).pathname === ROWS)
          untilRows = requested.filter((path) => !ICON.test(path));
      });
      await page.route(`**${ROWS}?*`, async (route) => {
        await sleep(SLOW_ANSWER_MS);
        await route.continue();
      });
      await page.goto(`${gateway.baseUrl}/console/tasks`);
      await page.getByText('the first row').waitFor();
      expect(untilRows).to.include(ROWS);
      expect(untilRows, untilRows.join(' ')).to.have.length.at.most(REQUESTS_MAX);
      await until('what can wait is asked for', async () => requested.includes('/api/balance'));
      expect(requested.filter((path) => /\.(woff2?|ttf|otf)$/.test(path))).to.deep.equal([]);
      await page.context().close();
    });

    it('behind a proxy that adds a path of its own', async () => {
      const { gateway, open } = tested();
      const proxy = await startProxy(gateway.baseUrl, '/gateway');
      try {
        const user = await gateway.createUser();
        const page = await open(user, 'keys', { baseUrl: proxy.url });
        await page.getByText('Test key').first().waitFor();
        await page.getByRole('link', { name: 'Credits', exact: true }).click();
        await page.waitForURL('**/gateway/console/credits');
        await page.getByText('Test credits').waitFor();
        await closeSound(page);
      } finally {
        proxy.close();
      }
    });
  });
}

/** Names of the files that the page itself loads. */
async function readAssets(baseUrl: string): Promise<string[]> {
  const page = await (await fetch(`${baseUrl}/console/`)).text();
  return [...page.matchAll(/assets\/([\w-]+\.(?:js|css))/g)].map(([, name = '']) => name);
}

/** Gzipped bytes of every file that can be reached from these, by name. */
async function readSizes(baseUrl: string, first: readonly string[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  const pending = [...first];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (sizes.has(name)) continue;
    const bytes = await readRaw(`${baseUrl}/console/assets/${name}`);
    sizes.set(name, bytes.byteLength);
    const text = gunzipSync(bytes).toString();
    for (const [, linked = ''] of text.matchAll(/["']\.\/([\w-]+\.js)["']/g)) pending.push(linked);
  }
  return sizes;
}

/** The body as it is sent: `fetch` would unpack it. */
function readRaw(url: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const sent = forward(url, { headers: { 'accept-encoding': 'gzip' } }, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      resolve(Buffer.concat(chunks));
    });
    sent.on('error', reject);
    sent.end();
  });
}

function sum(files: readonly [string, number][]): number {
  return files.reduce((bytes, [, size]) => bytes + size, 0);
}

// GET /docs, the page of the OpenAPI document: it loads its own files alone, and serves no others.
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { startGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { sendRaw } from '../../support/http/raw.ts';

describe('GET /docs', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());

  const read = (path: string, method = 'GET') => sendRaw(gateway.baseUrl, { method, path });
  const readWith = (path: string, headers: Record<string, string>) =>
    sendRaw(gateway.baseUrl, { path, headers });

  it('is a page that loads nothing from elsewhere and runs nothing inline', async () => {
    const { status, headers, text } = await read('/docs');
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('text/html; charset=utf-8');
    const policy = headers['content-security-policy'];
    expect(policy).to.contain("default-src 'none'");
    expect(policy).not.to.match(/unsafe|https?:|\*/);
    expect(text).not.to.match(/https?:\/\/|<script>|<style|\son\w+=/);
    const files = [...text.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(files).to.have.length.above(3);
    for (const path of files) {
      const file = await read(path);
      expect(file.status, path).to.equal(200);
      expect(file.headers['cache-control'], path).to.equal('public, max-age=3600');
      const etag = file.headers.etag ?? '';
      const again = await sendRaw(gateway.baseUrl, { path, headers: { 'if-none-match': etag } });
      expect(again.status, path).to.equal(304);
      expect(Number(file.headers['content-length']), path).to.be.above(100);
    }
  });

  it('is packed for whoever can unpack it, and whole whatever part is asked for', async () => {
    const path = '/docs/swagger-ui-bundle.js';
    const [whole, packed] = [await read(path), await readWith(path, { 'accept-encoding': 'gzip' })];
    expect(packed.headers['content-encoding']).to.equal('gzip');
    expect(packed.headers.vary).to.equal('accept-encoding');
    expect(Number(packed.headers['content-length'])).to.be.below(Number(whole.headers['content-length']) / 2);
    for (const headers of [{ range: 'bytes=5-1' }, { range: 'bytes=0-1' }, { 'if-match': '"x"' }])
      expect((await readWith('/docs', headers)).status, JSON.stringify(headers)).to.equal(200);
  });

  it('answers HEAD without a body, and knows no other method', async () => {
    for (const path of ['/docs', '/docs/docs.js', '/openapi.json']) {
      const head = await read(path, 'HEAD');
      expect(head.status, path).to.equal(200);
      expect(head.text, path).to.equal('');
      const other = await read(path, 'POST');
      expect(other.status, path).to.equal(405);
      expect(other.headers.allow, path).to.equal('GET, HEAD');
    }
  });

  it('serves its own files and no other, whatever the path says', async () => {
    const names = [
      'package.json',
      'index.html',
      'send-docs.ts',
      'swagger-ui.js',
      'LICENSE',
      '__proto__',
      '.env',
    ];
    const traversals = [
      '..%2fapp.ts',
      '%2e%2e%2f%2e%2e%2fpackage.json',
      '..%5capp.ts',
      'docs.js%00',
      '%2fetc%2fpasswd',
    ];
    for (const name of [...names, ...traversals]) {
      const answer = await read(`/docs/${name}`);
      expectError({ status: answer.status, body: JSON.parse(answer.text) }, 404, 'file_not_found', null);
    }
    for (const path of ['/docs/../package.json', '/docs/a/b', '/docs/../../etc/passwd']) {
      const answer = await read(path);
      expect(answer.status, path).to.equal(404);
    }
  });

  it('is made of files that are there', () => {
    for (const name of ['index.html', 'docs.css', 'docs.js'])
      expect(existsSync(new URL(`../../../api/docs/${name}`, import.meta.url)), name).to.equal(true);
  });
});

// The result URL of a Grok video, and where the directive `result` makes it lead.

import { expect } from 'chai';
import {
  ask,
  at,
  type HttpAnswer,
  isCutOff,
  newPrompt,
  readAtLeast,
  readJournal,
  useSandbox,
} from '../support.ts';

describe('sandbox: results of Grok videos', () => {
  const sandbox = useSandbox();

  async function finish(
    directives: string,
    aspectRatio = '16:9',
  ): Promise<{ answer: HttpAnswer; marker: string }> {
    const { prompt, marker } = newPrompt(`seconds=0 ${directives}`);
    const base = `${sandbox().url}/xai/v1/videos`;
    const body = { model: 'grok-imagine-video', prompt, aspect_ratio: aspectRatio };
    const submitted = await ask(`${base}/generations`, { method: 'POST', body });
    return { answer: await ask(`${base}/${String(submitted.body['request_id'])}`), marker };
  }

  async function link(directives: string, aspectRatio?: string): Promise<string> {
    return String(at((await finish(directives, aspectRatio)).answer.body, 'video.url'));
  }

  it('is a real MP4 that needs no key, in one of three shapes', async () => {
    const files = await Promise.all(
      ['16:9', '2:3', '1:1'].map(async (ratio) => {
        const response = await fetch(await link('', ratio));
        expect(response.status).to.equal(200);
        expect(response.headers.get('content-type')).to.equal('video/mp4');
        return Buffer.from(await response.arrayBuffer());
      }),
    );
    for (const file of files) expect(file.subarray(4, 8).toString()).to.equal('ftyp');
    expect(new Set(files.map((file) => file.toString('base64'))).size).to.equal(3);
  });

  it('is absent with result=missing and deliver=0', async () => {
    expect(at((await finish('result=missing')).answer.body, 'video')).not.to.have.property('url');
    expect((await finish('deliver=0')).answer.body).not.to.have.property('video');
  });

  it('is a private address with result=private', async () => {
    expect(await link('result=private')).to.match(/^http:\/\/10\.255\.255\.1\//);
  });

  it('leads to a private address with result=redirect_private', async () => {
    const answer = await ask(await link('result=redirect_private'), { key: null });
    expect(answer.status).to.equal(302);
    expect(answer.headers.get('location')).to.equal('http://169.254.169.254/latest/meta-data/');
  });

  it('is there only the second time with result=404*1', async () => {
    const url = await link('result=404*1');
    expect((await ask(url)).status).to.equal(404);
    expect((await ask(url)).status).to.equal(200);
  });

  for (const [result, type] of [
    ['html', 'text/html'],
    ['javascript', 'text/javascript'],
  ] as const) {
    it(`is ${type} with result=${result}`, async () => {
      const answer = await ask(await link(`result=${result}`));
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-type')).to.contain(type);
    });
  }

  it('breaks off with result=truncated', async () => {
    expect(await isCutOff(ask(await link('result=truncated')))).to.equal(true);
  });

  it('trickles with result=slow and never ends with result=endless', async () => {
    expect(await readAtLeast(await link('result=slow'), 10)).to.be.lessThan(1000);
    expect(await readAtLeast(await link('result=endless'), 1_000_000)).to.be.at.least(1_000_000);
  });

  it('is in the journal like every request about the job', async () => {
    const { answer, marker } = await finish('');
    const url = String(at(answer.body, 'video.url'));
    await ask(url);
    const entries = await readJournal(sandbox(), marker);
    expect(entries.map(({ operation, status }) => [operation, status])).to.eql([
      ['submit', 200],
      ['poll', 200],
      ['download', 200],
    ]);
    expect(new Set(entries.map(({ jobId }) => jobId)).size).to.equal(1);
    expect(entries.at(-1)).to.include({ vendor: 'grok', method: 'GET', path: new URL(url).pathname });
  });
});

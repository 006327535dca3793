// The sandbox's server, journal and process.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { ask, newPrompt, readJobs, readJournal, useSandbox } from './support.ts';

describe('sandbox server', () => {
  const sandbox = useSandbox();

  it('shows in the journal only what the text is part of, and never a prompt', async () => {
    const { prompt, marker } = newPrompt('seconds=0');
    const body = { model: 'grok-imagine-video', prompt };
    await ask(`${sandbox().url}/xai/v1/videos/generations`, { method: 'POST', body });
    const refused = { ...body, duration: 99 };
    await ask(`${sandbox().url}/xai/v1/videos/generations`, { method: 'POST', key: null, body: refused });
    const entries = await readJournal(sandbox(), marker);
    expect(entries.map(({ status }) => status)).to.eql([200, 401]);
    expect(entries[1]).to.include({ jobId: null, operation: 'submit' });
    expect(JSON.stringify(entries)).not.to.contain(marker);
    expect(JSON.stringify(await readJobs(sandbox(), marker))).not.to.contain(marker);
    expect(await readJournal(sandbox(), 'nobody-wrote-this')).to.eql([]);
  });

  it('refuses a body of more than 64 MiB and lives on', async () => {
    const body = new Uint8Array(64 * 1024 * 1024 + 1);
    const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' };
    const url = `${sandbox().url}/openai/v1/images/generations`;
    const status = await fetch(url, { method: 'POST', headers, body }).then(
      (response) => response.status,
      () => 'cut',
    );
    expect(status).to.be.oneOf([413, 'cut']);
    expect((await ask(`${sandbox().url}/_journal`)).status).to.equal(200);
  });

  it('answers strange paths without falling over', async () => {
    for (const path of ['/', '/nowhere', '/xai', '/openai/', '/xai/v1/videos/%ff', '//', '/?contains=x']) {
      expect((await ask(sandbox().url + path)).status).to.be.within(400, 499);
    }
  });

  it('runs as a process that says where it listens and stops when told to', async () => {
    const main = new URL('../../sandbox/main.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [main], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { url, port } = JSON.parse(line.toString()) as { url: string; port: number };
    expect(url).to.equal(`http://127.0.0.1:${port}`);
    expect((await ask(`${url}/_jobs`)).body).to.eql({ jobs: [] });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).to.eql([0, null]);
  });
});

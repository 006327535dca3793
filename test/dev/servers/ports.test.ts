// Ports that stay the same from start to start, and give way to a program that took them.
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, isPortInUse, keepPorts } from '../../../dev/servers/ports.ts';

describe('ports for the parts that run here', () => {
  let folder = '';
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ports-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('tell a port that is taken from one that is free', async () => {
    const port = await findFreePort();
    expect(await isPortInUse(port)).to.equal(false);
    const server = await listen(port);
    expect(await isPortInUse(port)).to.equal(true);
    await close(server);
  });

  it('are the same at the next start', async () => {
    const file = join(folder, 'ports.json');
    const first = await keepPorts(file, ['one', 'two']);
    expect(first.one).not.to.equal(first.two);
    expect(await keepPorts(file, ['one', 'two'])).to.deep.equal(first);
  });

  it('give way to a program that has taken them meanwhile', async () => {
    const file = join(folder, 'ports.json');
    const first = await keepPorts(file, ['one', 'two']);
    const server = await listen(first.one);
    const second = await keepPorts(file, ['one', 'two']);
    await close(server);
    expect(second.one).not.to.equal(first.one);
    expect(second.two).to.equal(first.two);
  });

  it('are chosen anew when the file is damaged', async () => {
    const file = join(folder, 'ports.json');
    writeFileSync(file, '{"one":');
    expect((await keepPorts(file, ['one'])).one).to.be.greaterThan(1024);
  });
});

function listen(port: number): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer().listen(port, '127.0.0.1', () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

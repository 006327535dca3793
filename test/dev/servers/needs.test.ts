// Which servers a test run starts: those that the files reach through what they import, and no other.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { findNeededServers } from '../../../dev/servers/needs.ts';

/** Put together, so that this file itself needs no server. */
const setting = (name: string): string => `process.env['TEST_${name}']`;

describe('the servers that test files need', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'needs-'));
    const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
    write('database.ts', `import './circle.ts';\nexport const url = ${setting('POSTGRES_URL')};`);
    write('circle.ts', `export * from './database.ts';`);
    write('gateway.ts', `import {\n  url,\n} from './database.ts';\n${setting('TEMPORAL_ADDRESS')};`);
    write('pure.test.ts', `import { join } from 'node:path';\nimport type { Url } from './database.ts';`);
    write('direct.test.ts', `import { url } from './database.ts';`);
    write('deep.test.ts', `import { start } from './gateway.ts';`);
    write('lazy.test.ts', `const { url } = await import('./database.ts');`);
    write('redis.test.ts', `const url = ${setting('REDIS_URL')};`);
  });
  after(() => rmSync(folder, { recursive: true }));

  const find = (...names: string[]): string[] =>
    [...findNeededServers(names.map((name) => join(folder, `${name}.test.ts`)))].sort();

  it('are none for a file that imports at most types of them', () => {
    expect(find('pure')).to.deep.equal([]);
  });

  it('are those named by the modules it imports, at any depth and at run time', () => {
    expect(find('direct')).to.deep.equal(['postgres']);
    expect(find('lazy')).to.deep.equal(['postgres']);
    expect(find('deep')).to.deep.equal(['postgres', 'temporal']);
  });

  it('are those of all files together', () => {
    expect(find('pure', 'redis', 'deep')).to.deep.equal(['postgres', 'redis', 'temporal']);
  });

  it('are none for the tests of pure modules, and all but Redis for a whole gateway', () => {
    expect([...findNeededServers(['test/domain/credits.test.ts'])]).to.deep.equal([]);
    const gateway = findNeededServers(['test/support/servers/gateway.ts']);
    expect([...gateway].sort()).to.deep.equal(['postgres', 'temporal']);
  });
});

// `npm run db` and `npm run admin` find the system that `npm start` runs on the same folder.
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const withSettings = join(import.meta.dirname, '../../dev/with-settings.ts');
const KEPT = 'dev-1:c29tZSBrZXk';
const DESCRIPTION = '{ "databaseUrl": "postgres://here/gateway", "temporalAddress": "here:7233" }';

describe('running a program with the settings of npm start', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'with-settings-'));
    writeFileSync(join(folder, 'secret-keys'), `${KEPT}\n`);
    writeFileSync(join(folder, 'dev.json'), DESCRIPTION);
    const show = 'const { DATABASE_URL, SVC_SECRET_KEYS, TEMPORAL_ADDRESS } = process.env;';
    writeFileSync(
      join(folder, 'show.ts'),
      `${show} console.log(JSON.stringify([DATABASE_URL ?? null, SVC_SECRET_KEYS ?? null, TEMPORAL_ADDRESS ?? null, ...process.argv.slice(2)]));`,
    );
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('takes the addresses and the key ring from the data folder, and passes the arguments on', async () => {
    const { shown } = await run(folder, {});
    expect(shown).to.deep.equal(['postgres://here/gateway', KEPT, 'here:7233', 'create', 'a@example.com']);
  });

  it('leaves alone what the environment sets', async () => {
    const settings = { DATABASE_URL: 'postgres://there/other', SVC_SECRET_KEYS: 'mine' };
    const { shown } = await run(folder, settings);
    expect(shown.slice(0, 3)).to.deep.equal(['postgres://there/other', 'mine', null]);
    const { shown: own } = await run(folder, { TEMPORAL_ADDRESS: 'there:7233' });
    expect(own.slice(0, 3)).to.deep.equal(['postgres://here/gateway', KEPT, 'there:7233']);
  });

  it('reads nothing in production', async () => {
    const { shown } = await run(folder, { NODE_ENV: 'production' });
    expect(shown.slice(0, 2)).to.deep.equal([null, null]);
  });

  it('says that nothing runs here', async () => {
    rmSync(join(folder, 'dev.json'));
    const { shown, errors } = await run(folder, {});
    expect(shown.slice(0, 2)).to.deep.equal([null, KEPT]);
    expect(errors).to.equal(`npm start does not run on ${folder}: start it first, or set DATABASE_URL.\n`);
  });
});

function run(
  folder: string,
  settings: Record<string, string>,
): Promise<{ shown: (string | null)[]; errors: string }> {
  const env = { PATH: process.env['PATH'] ?? '', SVC_DATA_DIR: folder, ...settings };
  const args = [withSettings, join(folder, 'show.ts'), 'create', 'a@example.com'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env }, (error, output, errors) => {
      if (error) reject(error);
      else resolve({ shown: JSON.parse(output), errors });
    });
  });
}

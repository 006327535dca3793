// The arrows between the rooms are enforced: for each room, an import it must not have fails the linter.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

const PROJECT = join(import.meta.dirname, '..');

/** File, what it imports, and whether it may. */
const PROBES: [file: string, imported: string, allowed: boolean][] = [
  ['domain/probe.ts', './tasks.ts', true],
  ['domain/probe.ts', '../db/database.ts', false],
  ['domain/probe.ts', 'zod', false],
  ['domain/probe.ts', 'node:crypto', false],
  ['db/probe.ts', '../domain/tasks.ts', true],
  ['db/probe.ts', '../providers/http/client.ts', false],
  ['db/entities/probe.ts', '../../api/app.ts', false],
  ['providers/probe.ts', '../domain/tasks.ts', true],
  ['providers/probe.ts', '../db/database.ts', false],
  ['providers/probe.ts', '../config/config.ts', false],
  ['providers/probe.ts', '../config/families.ts', false],
  ['storage/probe.ts', '../db/database.ts', false],
  ['workflows/probe.ts', '../domain/tasks.ts', true],
  ['workflows/probe.ts', '../activities/index.ts', false],
  ['workflows/probe.ts', '../db/database.ts', false],
  ['workflows/probe.ts', 'node:fs', false],
  ['activities/probe.ts', '../db/database.ts', true],
  ['activities/probe.ts', '../workflows/client.ts', false],
  ['activities/probe.ts', '../config/config.ts', false],
  ['runtime/probe.ts', '../db/database.ts', true],
  ['runtime/probe.ts', '../api/app.ts', false],
  ['runtime/probe.ts', '../config/config.ts', false],
  ['activities/probe.ts', '../runtime/tracing.ts', false],
  ['worker/probe.ts', '../runtime/tracing.ts', true],
  ['worker/probe.ts', '../activities/index.ts', true],
  ['worker/probe.ts', '../api/app.ts', false],
  ['api/probe.ts', '../workflows/client.ts', true],
  ['api/v1/probe.ts', '../../workflows/generate.ts', false],
  ['api/v1/probe.ts', '../../providers/registry.ts', false],
  ['api/probe.ts', '../activities/index.ts', false],
  ['sandbox/probe.ts', '../domain/credits.ts', false],
  ['sandbox/kling/probe.ts', '../../providers/http/client.ts', false],
];

describe('the rooms of the house', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-gateway-rooms-'));
    copyFileSync(join(PROJECT, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [file, imported, allowed] of PROBES)
    it(`${file} ${allowed ? 'may' : 'may not'} import ${imported}`, () => {
      const path = join(folder, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `import { something } from '${imported}';\nsomething();\n`);
      const oxlint = join(PROJECT, 'node_modules/oxlint/bin/oxlint');
      const { stdout } = spawnSync(process.execPath, [oxlint, file], { cwd: folder, encoding: 'utf8' });
      expect(stdout.includes('no-restricted-imports'), stdout).to.equal(!allowed);
    });
});

// The arrows between the rooms are enforced: for each room, an import it must not have fails the linter.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

const PROJECT = join(import.meta.dirname, '..');

/** File, what it imports, and whether it may. */
const PROBES: [file: string, imported: string, allowed: boolean][] = [
  ['domain/probe.ts', './tasks.ts', true],
  ['domain/probe.ts', '../db/database.ts', false],
  ['domain/orders/probe.ts', '../catalog/catalog.ts', true],
  ['domain/orders/probe.ts', '../../db/database.ts', false],
  ['domain/orders/probe.ts', '../../log.ts', false],
  ['domain/probe.ts', 'zod', false],
  ['domain/probe.ts', 'node:crypto', false],
  ['domain/catalog/probe.ts', 'zod', true],
  ['domain/catalog/probe.ts', 'node:crypto', false],
  ['domain/catalog/probe.ts', '../../config/config.ts', false],
  ['db/probe.ts', '../domain/tasks.ts', true],
  ['db/probe.ts', '../providers/http/client.ts', false],
  ['db/entities/probe.ts', '../../api/app.ts', false],
  ['providers/probe.ts', '../domain/tasks.ts', true],
  ['providers/probe.ts', '../db/database.ts', false],
  ['providers/probe.ts', '../config/config.ts', false],
  ['providers/probe.ts', '../config/families.ts', false],
  ['providers/kling/probe.ts', '../http/client.ts', true],
  ['providers/kling/probe.ts', '../vidu/vidu.ts', false],
  ['providers/kling/probe.ts', '../../db/database.ts', false],
  ['db/tasks/probe.ts', '../ids.ts', true],
  ['db/tasks/probe.ts', '../ledger/ledger.ts', true],
  ['db/tasks/probe.ts', '../redeem/redeem-codes.ts', false],
  ['db/tasks/probe.ts', '../../config/config.ts', false],
  ['cli/probe.ts', '../db/open-database.ts', true],
  ['cli/probe.ts', '../config/config.ts', true],
  ['cli/probe.ts', '../api/app.ts', false],
  ['cli/probe.ts', '../workflows/client.ts', true],
  ['cli/probe.ts', '../workflows/generate.ts', false],
  ['cli/probe.ts', '../activities/reconcile.ts', true],
  ['cli/probe.ts', '../providers/registry.ts', false],
  ['db/probe.ts', '../cli/db.ts', false],
  ['config/probe.ts', '../domain/tasks.ts', true],
  ['config/probe.ts', '../db/secrets.ts', false],
  ['config/probe.ts', '../providers/settings.ts', false],
  ['config/probe.ts', '../storage/storage.ts', false],
  ['config/probe.ts', '../api/app.ts', false],
  ['api/shapes/probe.ts', './basics.ts', true],
  ['api/shapes/probe.ts', '../../domain/tasks.ts', true],
  ['api/shapes/probe.ts', '../../db/ids.ts', false],
  ['api/shapes/probe.ts', '../context.ts', false],
  ['api/v1/probe.ts', '../openapi/document.ts', false],
  ['api/responses/probe.ts', '../openapi/document.ts', false],
  ['api/web/probe.ts', '../openapi/document.ts', false],
  ['api/chat/request/probe.ts', '../../openapi/document.ts', false],
  ['api/chat/request/probe.ts', '../../../providers/registry.ts', false],
  ['api/v1/probe.ts', '../../providers/chat/chat.ts', true],
  ['api/probe.ts', '../sandbox/server.ts', false],
  ['sandbox/kling/probe.ts', '../answers.ts', true],
  ['sandbox/kling/probe.ts', '../vidu/vidu.ts', false],
  ['storage/probe.ts', '../db/database.ts', false],
  ['workflows/probe.ts', '../domain/tasks.ts', true],
  ['workflows/probe.ts', '../activities/index.ts', false],
  ['workflows/probe.ts', '../db/database.ts', false],
  ['workflows/probe.ts', 'node:fs', false],
  ['activities/probe.ts', '../db/database.ts', true],
  ['activities/probe.ts', '../workflows/client.ts', false],
  ['activities/probe.ts', '../config/config.ts', false],
  ['runtime/probe.ts', '../db/database.ts', false],
  ['runtime/probe.ts', '../log.ts', true],
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
  ['console/ui/probe.ts', '../data/store.ts', true],
  ['console/pages/task/probe.ts', '../../ui/format.ts', true],
  ['console/data/probe.ts', '../ui/format.ts', false],
  ['console/data/probe.ts', '../pages/create/draft.ts', false],
  ['console/ui/probe.ts', '../pages/create/draft.ts', false],
  ['console/texts/probe.ts', '../app/pages.tsx', false],
  ['console/data/probe.ts', '../../api/openapi/route-types.ts', false],
  ['console/data/probe.ts', '../../api/openapi/document.ts', false],
  ['console/data/probe.ts', '../../api/app.ts', false],
  ['console/data/probe.ts', '../../domain/credits.ts', false],
];

/** The arrows: each room with the rooms it may import from. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  db: ['domain', 'log'],
  providers: ['domain'],
  storage: ['domain'],
  workflows: ['domain'],
  activities: ['domain', 'db', 'providers', 'storage', 'log'],
  worker: ['domain', 'db', 'providers', 'storage', 'workflows', 'activities', 'config', 'runtime', 'log'],
  api: ['domain', 'db', 'providers', 'storage', 'workflows', 'config', 'runtime', 'log'],
  config: ['domain'],
  runtime: ['domain', 'log'],
  cli: ['domain', 'db', 'storage', 'workflows', 'activities', 'config', 'log'],
  sandbox: [],
  console: [],
};
/** A file of each room, one that those may import which may import from the room at all. */
const SAMPLES: Readonly<Record<string, string>> = {
  ...{ domain: 'domain/tasks.ts', db: 'db/database.ts', providers: 'providers/chat/chat.ts' },
  ...{ storage: 'storage/storage.ts', workflows: 'workflows/client.ts', activities: 'activities/index.ts' },
  ...{ worker: 'worker/main.ts', api: 'api/app.ts', config: 'config/config.ts', cli: 'cli/db.ts' },
  ...{ runtime: 'runtime/listener.ts', log: 'log.ts', sandbox: 'sandbox/server.ts', dev: 'dev/lock.ts' },
  ...{ bench: 'bench/measure.ts', test: 'test/support/until.ts', console: 'console/build.ts' },
};
for (const [room, allowed] of Object.entries(ARROWS))
  for (const [other, sample] of Object.entries(SAMPLES))
    if (other !== room) PROBES.push([`${room}/probe.ts`, `../${sample}`, allowed.includes(other)]);

describe('the rooms of the house', () => {
  let folder: string;
  let report: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-gateway-rooms-'));
    copyFileSync(join(PROJECT, 'oxlint.config.ts'), join(folder, 'oxlint.config.ts'));
    symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
    for (const [index, [file, imported]] of PROBES.entries()) {
      const path = join(folder, probeFile(file, index));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `import { something } from '${imported}';\nsomething();\n`);
    }
    const oxlint = join(PROJECT, 'node_modules/oxlint/bin/oxlint');
    const run = spawnSync(process.execPath, [oxlint, '--format', 'unix'], { cwd: folder, encoding: 'utf8' });
    report = run.stdout;
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [index, [file, imported, allowed]] of PROBES.entries())
    it(`${file} ${allowed ? 'may' : 'may not'} import ${imported}`, () => {
      const lines = report.split('\n').filter((line) => line.includes(probeFile(file, index)));
      expect(lines.join('\n').includes('no-restricted-imports'), report).to.equal(!allowed);
    });
});

/** A name of its own for each probe, so that all of them are linted in one run. */
function probeFile(file: string, index: number): string {
  return file.replace('probe.ts', `probe-${index}.ts`);
}

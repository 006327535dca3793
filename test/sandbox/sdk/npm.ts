// Installs a vendor's package from npm, once into a folder of its own, for packages that the repository
// does not depend on.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Installed } from './python.ts';

const run = promisify(execFile);

const INSTALL_LIMIT_MS = 240_000;

/**
 * Installs a package with its exact version, such as `mmx-cli@1.0.27`, without running any script of it.
 * Returns `missing` where there is no npm or network.
 */
export async function installFromNpm(requirement: string): Promise<Installed> {
  const folder = join(tmpdir(), 'svc-gateway-sdks', requirement.replaceAll(/[^\w.-]/g, '_'));
  if (existsSync(folder)) return { kind: 'installed', folder };
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const npm = ['install', '--prefix', unfinished, '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  try {
    await run('npm', [...npm, requirement], { timeout: INSTALL_LIMIT_MS });
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // A concurrent test run may have installed it meanwhile.
    if (!existsSync(folder))
      return { kind: 'missing', why: `${requirement}: ${String(error).slice(0, 300)}` };
  }
  return { kind: 'installed', folder };
}

// Installs vendors' Python clients from PyPI, each once into a folder of its own, and runs scripts with them.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Json } from '../support.ts';

const run = promisify(execFile);

const INSTALL_LIMIT_MS = 240_000;
const SCRIPT_LIMIT_MS = 60_000;
const OUTPUT_BYTES_MAX = 1024 * 1024;

export type Installed = { kind: 'installed'; folder: string } | { kind: 'missing'; why: string };

/**
 * Installs a requirement with its exact version, such as `dashscope==2.0.2`.
 * Returns `missing` where there is no Python, pip or network.
 */
export async function installPackage(requirement: string): Promise<Installed> {
  const folder = join(tmpdir(), 'svc-gateway-sdks', requirement.replaceAll(/[^\w.-]/g, '_'));
  if (existsSync(folder)) return { kind: 'installed', folder };
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check'];
  try {
    await run('python3', [...pip, '--target', unfinished, requirement], { timeout: INSTALL_LIMIT_MS });
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // A concurrent test run may have installed it meanwhile.
    if (!existsSync(folder))
      return { kind: 'missing', why: `${requirement}: ${String(error).slice(0, 300)}` };
  }
  return { kind: 'installed', folder };
}

/** Runs a script of this folder with these arguments and returns the JSON that it prints last. */
export async function runScript(folder: string, script: string, ...args: string[]): Promise<Json> {
  const path = new URL(script, import.meta.url).pathname;
  const { stdout } = await run('python3', [path, ...args], {
    timeout: SCRIPT_LIMIT_MS,
    maxBuffer: OUTPUT_BYTES_MAX,
    env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1', NO_PROXY: '127.0.0.1' },
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

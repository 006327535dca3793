// Installs packages of the system, on Debian.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export const INSTALLER = '/usr/bin/apt-get';

/** Runs the installer; false when it fails. Throws when the signal ended it. */
export async function runInstaller(args: readonly string[], signal?: AbortSignal): Promise<boolean> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const child = spawn(INSTALLER, args, { stdio: 'ignore', env, ...(signal === undefined ? {} : { signal }) });
  try {
    const [code]: unknown[] = await once(child, 'close');
    return code === 0;
  } catch (error) {
    if (signal?.aborted) throw new Error('Interrupted while installing a package.', { cause: error });
    return false;
  }
}

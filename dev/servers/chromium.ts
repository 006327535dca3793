// Finds the browser of the console's tests, or installs it.
import { existsSync } from 'node:fs';
import { runInstaller, INSTALLER } from './packages.ts';

const PROGRAMS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The path of a Chromium on this machine; null without one. */
export function findChromium(): string | null {
  return PROGRAMS.find((path) => existsSync(path)) ?? null;
}

/** Installs Debian's package where there is no Chromium and this is allowed, as root on Debian. */
export async function installChromium(log: (message: string) => void, signal?: AbortSignal): Promise<void> {
  if (findChromium() !== null || process.getuid?.() !== 0 || !existsSync(INSTALLER)) return;
  log('installing the package chromium (about 90 MB, one or two minutes)');
  const install = ['install', '--yes', '--no-install-recommends', 'chromium'];
  if (await runInstaller(install, signal)) return;
  await runInstaller(['update'], signal);
  await runInstaller(install, signal);
}

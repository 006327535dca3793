// Installs and starts Portkey's open gateway, the fastest of those that do not bill, where possible.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../dev/servers/ports.ts';
import { startProgram, type BenchProcess } from './bench-process.ts';

const VERSION = '1.15.2';
const INSTALL_LIMIT_MS = 120_000;

export type Portkey = BenchProcess & { url: string; headers: Record<string, string> };

/** Starts Portkey. Null, after printing the reason, where it cannot be installed. */
export async function startPortkey(upstreamPort: number): Promise<Portkey | null> {
  const folder = join(tmpdir(), `svc-gateway-bench-portkey-${VERSION}`);
  const program = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  if (!existsSync(program)) {
    console.log('installing Portkey (about 60 MB)');
    const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', `@portkey-ai/gateway@${VERSION}`];
    spawnSync('npm', args, { timeout: INSTALL_LIMIT_MS, stdio: 'ignore' });
  }
  if (!existsSync(program)) {
    console.log('Portkey cannot be installed here and is left out');
    return null;
  }
  const port = await findFreePort();
  const running = await startProgram(
    [program, `--port=${port}`, '--headless'],
    {},
    /ready|running|listening/i,
  );
  const headers = {
    authorization: 'Bearer bench',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
  };
  return { ...running, url: `http://127.0.0.1:${port}/v1/chat/completions`, headers };
}

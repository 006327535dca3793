// Starts the whole product as `npm start` does, on a folder of its own that is removed afterwards.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secrets } from '../db/secrets.ts';
import { openDataFolder } from '../dev/system/data-folder.ts';
import { findFreePort } from '../dev/servers/ports.ts';
import type { Priority } from '../dev/priority.ts';
import { launch, type RunningProcess } from '../dev/processes.ts';
import { partEnvironment, readSettings } from '../dev/system/settings.ts';
import { createSystem, type System } from '../dev/system/system.ts';
import type { SystemSummary } from '../dev/system/parts.ts';
import { openTerminal } from '../dev/terminal.ts';
import { RAISED_LIMITS } from './raised-limits.ts';

export interface BenchSystem extends SystemSummary {
  /** Secrets with the product's key ring, so that the bench can create keys for it. */
  secrets: Secrets;
  /** The pids of the processes whose work is measured. */
  pids: { api: number | null; postgres: number | null };
  /** Returns the current pid of a part, which restarts change. Null while the part is being restarted. */
  pidOf(part: Parameters<System['pid']>[0]): number | null;
  /** Runs a script beside the product, with the same environment and these settings on top. */
  runBeside(script: string, settings?: Record<string, string>, priority?: Priority): Promise<RunningProcess>;
  stop(): Promise<void>;
}

/** Starts the product. `ownSettings` override those of the benches. */
export async function startBenchSystem(ownSettings: Record<string, string> = {}): Promise<BenchSystem> {
  const terminal = openTerminal();
  const secretKey = { id: 'bench', bytes: randomBytes(32) };
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-gateway-bench-'));
  const port = await findFreePort();
  const internalPort = await findFreePort(new Set([port]));
  const env = {
    ...process.env,
    ...RAISED_LIMITS,
    SVC_LOG_LEVEL: 'warn',
    ...ownSettings,
    SVC_SECRET_KEYS: `${secretKey.id}:${secretKey.bytes.toString('base64url')}`,
    SVC_DATA_DIR: dataDir,
    PORT: String(port),
    SVC_INTERNAL_PORT: String(internalPort),
  };
  const folder = await openDataFolder(dataDir, terminal.warn);
  const settings = readSettings(env);
  const addresses = {
    secretKeys: env.SVC_SECRET_KEYS,
    workerInternalPort: settings.workerInternalPort ?? 0,
  };
  const system = createSystem({
    settings,
    folder,
    env,
    terminal,
    onRestart: () => undefined,
    onGiveUp: (error) => terminal.fail(error.message),
  });
  const beside: RunningProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const running of beside) await running.stop(2_000);
    await system.stop();
    folder.release();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const summary = await system.start();
    const runBeside: BenchSystem['runBeside'] = async (script, own = {}, priority) => {
      const running = await launch({
        command: process.execPath,
        args: [script],
        env: { ...partEnvironment(env, settings, { ...summary, ...addresses }), ...own },
        logFile: folder.logFile('beside'),
        ...(priority === undefined ? {} : { priority }),
      });
      beside.push(running);
      return running;
    };
    const pids = { api: system.pid('api'), postgres: system.pid('postgres') };
    return { ...summary, secrets: new Secrets([secretKey]), pids, pidOf: system.pid, runBeside, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

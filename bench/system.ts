// The whole product as `npm start` runs it, on a folder of its own that goes away afterwards.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataFolder } from '../dev/data-folder.ts';
import { findFreePort } from '../dev/ports.ts';
import { launch, type RunningProcess } from '../dev/processes.ts';
import { readSettings } from '../dev/settings.ts';
import { createSystem, type SystemSummary } from '../dev/system.ts';
import { openTerminal } from '../dev/terminal.ts';

export interface BenchSystem extends SystemSummary {
  /** Runs a script beside the product, with the same environment. */
  runBeside(script: string): Promise<RunningProcess>;
  stop(): Promise<void>;
}

/** Limits that would measure themselves are out of the way; everything else is as delivered. */
const OUT_OF_THE_WAY = {
  SVC_RUNNING_TASKS_PER_USER: '1000',
  SVC_WAITING_TASKS_PER_USER: '10000',
  SVC_LIMIT_CREATE: '1000000/60',
  SVC_LIMIT_READ: '1000000/60',
  SVC_LOG_LEVEL: 'warn',
};

export async function startBenchSystem(): Promise<BenchSystem> {
  const terminal = openTerminal();
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-gateway-bench-'));
  const port = await findFreePort();
  const internalPort = await findFreePort(new Set([port]));
  const env = {
    ...process.env,
    ...OUT_OF_THE_WAY,
    SVC_DATA_DIR: dataDir,
    PORT: String(port),
    SVC_INTERNAL_PORT: String(internalPort),
  };
  const folder = await openDataFolder(dataDir, terminal.warn);
  const system = createSystem({
    settings: readSettings(env),
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
    const runBeside = async (script: string): Promise<RunningProcess> => {
      const running = await launch({
        command: process.execPath,
        args: [script],
        env: { ...env, TEMPORAL_ADDRESS: summary.temporalAddress },
        logFile: folder.logFile('beside'),
      });
      beside.push(running);
      return running;
    };
    return { ...summary, runBeside, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

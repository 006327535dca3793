// Plays a soak on the stage: through the proxy, with faults of whole containers.
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { cut, hang, kill, restart } from '../../bench/soak/faults.ts';
import { readPlan } from '../../bench/soak/plan.ts';
import { untilReady } from '../../bench/soak/readiness.ts';
import { soak, type SoakPlan, type SoakReport } from '../../bench/soak/soak.ts';
import type { Fault, SoakSystem } from '../../bench/soak/system.ts';
import { Secrets } from '../../db/secrets.ts';
import { readLoad } from '../machine.ts';
import type { Terminal } from '../terminal.ts';
import { cutOff, killService, pauseService } from './disturbances.ts';
import { WATCHED } from './drill.ts';
import { ENV_FILE, PROXY_PORT } from './files.ts';
import { measureMemory, type MemoryUse } from './measure.ts';
import { DATABASE_PORT, INTERNAL_URLS } from './soaked-stage.ts';
import type { Stage } from './stage.ts';

export interface Soaked {
  plan: SoakPlan;
  report: SoakReport;
  /** The machine's load at its end. */
  loadAfter: number;
  /** What each container used before and after. */
  memory: Readonly<Record<'before' | 'after', readonly MemoryUse[]>>;
}

/** Pauses long enough for some to show how soon everything is final after a recovery. */
const PAUSE_SECONDS: [from: number, to: number] = [15, 75];
const SAID_EVERY_LINES = 6;
/** Processes whose memory is judged are killed in the first part of the soak only. */
const KILLED_UNTIL = 0.4;
const APIS = ['api', 'second-api'];
const WORKERS = ['worker', 'second-worker'];
const ALL: readonly Fault[] = [
  ...[...APIS, ...WORKERS].map((part) => kill(part, 2, KILLED_UNTIL)),
  ...APIS.map((part) => hang(part, 1, 3_000)),
  ...WORKERS.map((part) => hang(part, 1, 8_000)),
  ...[kill('redis', 1), hang('redis', 1, 3_000), cut('redis', 1, 8_000)],
  ...[kill('temporal', 2), hang('temporal', 1, 8_000), cut('temporal', 1, 8_000)],
  ...[kill('postgres', 1), restart('postgres', 1), hang('postgres', 1, 5_000)],
  ...[kill('bucket', 1), hang('bucket', 1, 8_000), cut('bucket', 1, 8_000), kill('proxy', 1)],
];

/** Plays it for SOAK_SECONDS and judges it as `npm run soak` does. */
export async function soakOn(stage: Stage, terminal: Terminal): Promise<Soaked> {
  let lines = 0;
  const plan = readPlan(process.env, (line) => {
    if (lines % SAID_EVERY_LINES === 0) terminal.note(`${line}, load ${readLoad().toFixed(1)}`);
    lines += 1;
  });
  if (plan.thresholds.mustJudge) plan.faultPauseSeconds = PAUSE_SECONDS;
  terminal.note(`SOAK_SEED=${plan.seed}`);
  const before = await measureMemory(stage);
  const report = await soak(plan, openSystem(stage, terminal));
  return { plan, report, loadAfter: readLoad(), memory: { before, after: await measureMemory(stage) } };
}

/** The stage as a soak sees it. It is taken down by the rehearsal. */
function openSystem(stage: Stage, terminal: Terminal): SoakSystem {
  const env = parseEnv(readFileSync(ENV_FILE, 'utf8'));
  const [newest = ''] = (env['SVC_SECRET_KEYS'] ?? '').split(',');
  const [id = '', bytes = ''] = newest.split(':');
  const password = env['GATEWAY_DATABASE_PASSWORD'] ?? '';
  return {
    databaseUrl: `postgres://gateway:${password}@127.0.0.1:${DATABASE_PORT}/gateway`,
    secrets: new Secrets([{ id, bytes: Buffer.from(bytes, 'base64url') }]),
    baseUrls: [`https://localhost:${PROXY_PORT}`],
    internalUrls: INTERNAL_URLS,
    faults: { none: [], gentle: ALL.filter(({ does }) => does === 'hang'), all: ALL },
    strike: async (fault, lastsMs) => {
      const name = await stage.container(fault.part);
      if (!(await stage.running()).includes(name)) return false;
      terminal.note(fault.name);
      await strike(stage, fault, lastsMs);
      return true;
    },
    untilHealthy: async () => {
      for (const service of WATCHED) await stage.untilHealthy(service);
      await untilReady(Object.values(INTERNAL_URLS));
    },
    stop: () => Promise.resolve(),
  };
}

async function strike(stage: Stage, { part, does }: Fault, lastsMs: number): Promise<void> {
  if (does === 'kill') await killService(stage, part);
  else if (does === 'restart') await stage.compose('restart', part);
  else if (does === 'hang') await pauseService(stage, part, lastsMs);
  else await cutOff(stage, part, lastsMs);
  if (does !== 'kill' || !APIS.includes(part)) return;
  // It may come back with another address, which nginx asks for when it reads its configuration.
  await stage.untilHealthy(part);
  await stage.reloadProxy();
}

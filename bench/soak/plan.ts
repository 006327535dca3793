// Reads what a soak is to be: SOAK_SECONDS, SOAK_SEED, SOAK_LOAD and SOAK_FAULTS.
import type { SoakPlan } from './soak.ts';

const FAULT_KINDS = ['none', 'gentle', 'all'] as const;
const DEFAULTS = { seconds: 1_200, load: 0.6, faults: 'all' };
/** From here on every process has to live long enough to be judged. */
const LONG_SECONDS = 600;

/** Throws one sentence when a setting has no meaning. */
export function readPlan(env: NodeJS.ProcessEnv, say: (line: string) => void): SoakPlan {
  const seed = Number(env['SOAK_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const seconds = Number(env['SOAK_SECONDS'] ?? DEFAULTS.seconds);
  const load = Number(env['SOAK_LOAD'] ?? DEFAULTS.load);
  const faults = FAULT_KINDS.find((kind) => kind === (env['SOAK_FAULTS'] ?? DEFAULTS.faults));
  if (!(seed >= 0 && seconds > 0 && load > 0) || !faults)
    throw new Error('SOAK_SEED, SOAK_SECONDS and SOAK_LOAD are numbers; SOAK_FAULTS is none, gentle or all');
  return {
    ...{ seed, seconds, load, faults, peakSeconds: 20, settleSeconds: 180 },
    faultPauseSeconds: seconds < 300 ? [4, 10] : [10, 30],
    thresholds: {
      warmUpSeconds: 90, // the worker's cache of workflows fills up
      mustJudge: seconds >= LONG_SECONDS,
      ...{ memoryGrowth: 0.15, memoryGrowthMb: 20, descriptorsGrowth: 20, queueGrowth: 30, loopDelayMs: 250 },
    },
    say,
  };
}

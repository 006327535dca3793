// Injects faults during a soak, drawn from the seed: processes are killed, or hang for a while.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from './random.ts';
import type { PartName, SoakSystem } from './system.ts';

export type FaultKind = 'none' | 'gentle' | 'all';

export interface Fault {
  name: string;
  weight: number;
  part: PartName;
  /** The signal sent. SIGSTOP is followed by SIGCONT after up to `hangMsMax`. */
  signal: 'SIGKILL' | 'SIGINT' | 'SIGSTOP';
  hangMsMax: number;
}

const kill = (part: PartName, weight: number, signal: 'SIGKILL' | 'SIGINT' = 'SIGKILL'): Fault => ({
  ...{ name: `${signal === 'SIGINT' ? 'restart' : 'kill'} ${part}`, weight, part, signal, hangMsMax: 0 },
});
const hang = (part: PartName, weight: number, hangMsMax: number): Fault => ({
  ...{ name: `hang ${part}`, weight, part, signal: 'SIGSTOP', hangMsMax },
});

const GENTLE = [
  kill('redis', 1),
  hang('redis', 1, 1_000),
  hang('worker', 1, 2_000),
  kill('worker', 1),
  hang('api', 1, 500),
];
/**
 * The possible faults. The second API and, from the middle on, the worker are never killed, because their
 * memory is judged.
 */
const ALL = [
  ...[
    kill('api', 3),
    hang('api', 2, 3_000),
    hang('second api', 1, 3_000),
    kill('worker', 3),
    hang('worker', 2, 8_000),
  ],
  ...[kill('redis', 2), hang('redis', 2, 3_000), kill('temporal', 2), hang('temporal', 2, 8_000)],
  ...[kill('postgres', 1, 'SIGINT'), kill('postgres', 1)],
];
const WORKER_KILLED_UNTIL = 0.4;
const FAULTS: Record<FaultKind, readonly Fault[]> = { none: [], gentle: GENTLE, all: ALL };

/**
 * Injects one fault after the other, with pauses, until the time is over or the signal is aborted. Returns
 * their counts.
 */
export async function injectFaults(
  system: SoakSystem,
  chance: Chance,
  plan: { kind: FaultKind; seconds: number; pauseSeconds: [from: number, to: number]; signal: AbortSignal },
): Promise<Map<string, number>> {
  const done = new Map<string, number>();
  const startedAt = Date.now();
  const share = (): number => (Date.now() - startedAt) / (plan.seconds * 1000);
  while (FAULTS[plan.kind].length > 0) {
    await sleep(chance.between(...plan.pauseSeconds) * 1000, undefined, { signal: plan.signal }).catch(
      () => undefined,
    );
    if (plan.signal.aborted) break;
    const spared = (fault: Fault): boolean =>
      fault.part === 'worker' && fault.signal === 'SIGKILL' && share() > WORKER_KILLED_UNTIL;
    const fault = chance.pick(FAULTS[plan.kind].filter((one) => !spared(one)));
    const hangMs = chance.between(200, Math.max(200, fault.hangMsMax));
    if (await strike(system, fault, hangMs)) done.set(fault.name, (done.get(fault.name) ?? 0) + 1);
  }
  return done;
}

async function strike(system: SoakSystem, { part, signal }: Fault, hangMs: number): Promise<boolean> {
  const pid = system.pid(part);
  if (pid === null || !send(pid, signal)) return false; // it is being restarted already
  if (signal !== 'SIGSTOP') return true;
  await sleep(hangMs);
  send(pid, 'SIGCONT');
  return true;
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

// Injects faults during a soak, drawn from the seed: parts are killed, restarted, frozen or cut off.
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../dev/terminal.ts';
import type { Chance } from './random.ts';
import type { Fault, FaultKind, SoakSystem } from './system.ts';

/** From the beginning of a fault until every part was back, in milliseconds since 1970. */
export interface Disturbance {
  from: number;
  until: number;
}

export interface Injected {
  /** How often each fault came. */
  faults: Map<string, number>;
  disturbances: Disturbance[];
  /** Faults after which a part did not come back. */
  problems: string[];
}

const ALWAYS = 1;

export function kill(part: string, weight: number, untilShare = ALWAYS): Fault {
  return { name: `kill ${part}`, weight, part, does: 'kill', lastsMsMax: 0, untilShare };
}

export function restart(part: string, weight: number): Fault {
  return { ...kill(part, weight), name: `restart ${part}`, does: 'restart' };
}

export function hang(part: string, weight: number, lastsMsMax: number): Fault {
  return { ...kill(part, weight), name: `hang ${part}`, does: 'hang', lastsMsMax };
}

export function cut(part: string, weight: number, lastsMsMax: number): Fault {
  return { ...kill(part, weight), name: `cut ${part} off`, does: 'cut', lastsMsMax };
}

/** Injects one fault after the other, with pauses, until the time is over or the signal is aborted. */
export async function injectFaults(
  system: SoakSystem,
  chance: Chance,
  plan: { kind: FaultKind; seconds: number; pauseSeconds: [from: number, to: number]; signal: AbortSignal },
): Promise<Injected> {
  const injected: Injected = { faults: new Map(), disturbances: [], problems: [] };
  const { faults, disturbances, problems } = injected;
  const possible = system.faults[plan.kind];
  const startedAt = Date.now();
  const lastsMs = plan.seconds * 1000;
  const passedMs = (): number => Date.now() - startedAt;
  while (possible.length > 0) {
    await sleep(chance.between(...plan.pauseSeconds) * 1000, undefined, { signal: plan.signal }).catch(
      () => undefined,
    );
    if (plan.signal.aborted || passedMs() >= lastsMs) break;
    const fault = chance.pick(possible.filter(({ untilShare }) => passedMs() <= untilShare * lastsMs));
    const faultMs = chance.between(200, Math.max(200, fault.lastsMsMax));
    const from = Date.now();
    try {
      if (!(await system.strike(fault, faultMs))) continue;
      faults.set(fault.name, (faults.get(fault.name) ?? 0) + 1);
      await system.untilHealthy();
    } catch (error) {
      problems.push(`${fault.name}: ${describeError(error)}`);
    }
    disturbances.push({ from, until: Date.now() });
  }
  return injected;
}

// What the drills do to single containers: killed, frozen, restarted, cut off from the network.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Drill } from './drill.ts';
import { run } from './engine.ts';
import { NETWORK, type Stage } from './stage.ts';
import { FRONTEND, OTHERS } from './temporal-apart.ts';

const PAUSE_MS = 8_000;
const CUT_MS = 10_000;
const DOWN_MS = 1_000;

export const DISTURBANCES: readonly Drill[] = [
  ...['api', 'worker', 'temporal', 'redis', 'postgres', 'sandbox', 'bucket'].map(kill),
  ...['api', 'worker', 'temporal', 'redis', 'postgres', 'bucket'].map(pause),
  ...['postgres', 'temporal', 'api', 'worker'].map(restart),
  ...['postgres', 'temporal', 'redis', 'bucket'].map(cut),
];

/** Each of Temporal's four services killed and frozen once. */
export const TEMPORAL_DRILLS: readonly Drill[] = [kill, pause].flatMap((disturb) =>
  [FRONTEND, ...OTHERS].map((service) => {
    const drill = disturb(service);
    return {
      ...drill,
      name: service === FRONTEND ? `${drill.name}-frontend` : drill.name,
      about: `${drill.about}; Temporal as four services`,
      watched: OTHERS,
    };
  }),
);

/** A container that was killed by hand is not restarted by its policy: it is started again after a moment. */
export async function killService(stage: Stage, service: string): Promise<void> {
  const name = await stage.container(service);
  await run('docker', ['kill', name]);
  await sleep(DOWN_MS);
  await run('docker', ['start', name]);
  // Who shares its network has to follow it.
  if (service === 'sandbox') await run('docker', ['restart', await stage.container('vendors')]);
}

/** Freezes a container, with its connections open. */
export async function pauseService(stage: Stage, service: string, lastsMs: number): Promise<void> {
  const name = await stage.container(service);
  await run('docker', ['pause', name]);
  await sleep(lastsMs);
  await run('docker', ['unpause', name]);
}

/** Takes a container's network away for a while. */
export async function cutOff(stage: Stage, service: string, lastsMs: number): Promise<void> {
  const name = await stage.container(service);
  await run('docker', ['network', 'disconnect', NETWORK, name]);
  await sleep(lastsMs);
  await run('docker', ['network', 'connect', '--alias', service, NETWORK, name]);
}

function kill(service: string): Drill {
  return {
    name: `kill ${service}`,
    about: `SIGKILL to its process, started again after ${DOWN_MS / 1000} s`,
    disturb: (stage) => killService(stage, service),
  };
}

function pause(service: string): Drill {
  return {
    name: `pause ${service}`,
    about: `frozen for ${PAUSE_MS / 1000} s, with its connections open`,
    disturb: (stage) => pauseService(stage, service, PAUSE_MS),
  };
}

function restart(service: string): Drill {
  return {
    name: `restart ${service}`,
    about: 'stopped in order and started again',
    disturb: async (stage) => void (await stage.compose('restart', service)),
  };
}

function cut(service: string): Drill {
  return {
    name: `cut ${service} off`,
    about: `without a network for ${CUT_MS / 1000} s, while its process runs on`,
    disturb: (stage) => cutOff(stage, service, CUT_MS),
  };
}

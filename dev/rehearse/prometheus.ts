// Asks the rehearsal's Prometheus whether it reaches every process and accepts the alert rules.
import { setTimeout as sleep } from 'node:timers/promises';
import { PROMETHEUS_PORT } from './files.ts';

interface Target {
  health: string;
  scrapeUrl: string;
  lastError: string;
}

interface Group {
  rules: { name: string; health: string; state: string; lastError?: string }[];
}

const BASE = `http://127.0.0.1:${PROMETHEUS_PORT}/api/v1`;
const TARGETS = 4;
const WAIT_MS_MAX = 60_000;

/** Returns one sentence; throws when a process is not scraped or a rule fails. */
export async function checkPrometheus(): Promise<string> {
  const until = Date.now() + WAIT_MS_MAX;
  let problem = 'Prometheus does not answer';
  while (Date.now() < until) {
    try {
      const { activeTargets } = await ask<{ activeTargets: Target[] }>('/targets');
      const rules = (await ask<{ groups: Group[] }>('/rules')).groups.flatMap((group) => group.rules);
      const down = activeTargets.filter(({ health }) => health !== 'up');
      const failing = rules.filter(({ health }) => health !== 'ok');
      if (activeTargets.length === TARGETS && down.length === 0 && failing.length === 0) {
        const firing = rules.filter(({ state }) => state === 'firing').map(({ name }) => name);
        const fires = firing.length === 0 ? 'none fires' : `firing: ${firing.join(', ')}`;
        return `Prometheus scrapes ${TARGETS} processes and evaluates ${rules.length} alert rules; ${fires}.`;
      }
      problem = JSON.stringify({ down, failing });
    } catch (error) {
      problem = String(error);
    }
    await sleep(1_000);
  }
  throw new Error(`Prometheus: ${problem}`);
}

async function ask<Data>(path: string): Promise<Data> {
  const response = await fetch(`${BASE}${path}`);
  return ((await response.json()) as { data: Data }).data;
}

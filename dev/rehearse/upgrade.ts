// Replaces an older version by today's under load: the migrations first, then one process after the other.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Terminal } from '../terminal.ts';
import type { Callers } from './callers.ts';
import { runDrill, type DrillResult } from './drill.ts';
import { run } from './engine.ts';
import { replaceProcesses } from './rolling.ts';
import type { Stage } from './stage.ts';
import { orderVideo } from './traffic.ts';

const OLD_IMAGE = 'svc-gateway-rehearsal/before';
const NEW_IMAGE = 'svc-gateway-rehearsal/after';
/** What an upgrade has to be safe for; the older version differs in each of them. */
const CHANGED = ['db/migrations', 'workflows', 'catalog.json'];
const EMAIL = 'upgrade@example.com';
const CREDITS = '10000';
/** Time in which the older processes run on the newer schema. */
const OLD_ON_NEW_MS = 5_000;
/** Longer than it takes to replace a worker: these videos begin in the older version and end in the newer. */
const LONG_SECONDS = 60;

/** Takes the stage down, brings the older version up on empty volumes, and upgrades it. */
export async function rehearseUpgrade(
  stage: Stage,
  callers: Callers,
  image: string,
  terminal: Terminal,
): Promise<DrillResult> {
  const commit = process.env['REHEARSE_FROM'] ?? (await findOlder());
  await terminal.step(`the image of ${commit}`, () => buildOlder(commit));
  await run('docker', ['tag', image, NEW_IMAGE]);
  try {
    await run('docker', ['tag', OLD_IMAGE, image]);
    await stage.down();
    await terminal.step(`docker compose up with ${commit}`, () => stage.up());
    const apiKey = await makeCaller(stage);
    await run('docker', ['tag', NEW_IMAGE, image]);
    const drill = {
      name: `upgrade from ${commit}`,
      about:
        'migrations, then each API and worker replaced in turn by the image of today; ' +
        `a video of ${LONG_SECONDS} s runs across`,
      disturb: async (): Promise<void> => {
        const long = await orderVideo(callers, apiKey, LONG_SECONDS);
        await roll(stage);
        const state = await stage.sql(`select status from task where id = '${long}'`);
        if (state !== 'in_progress' && state !== 'completed') throw new Error(`the long video is ${state}`);
      },
    };
    return await runDrill(drill, stage, callers, { apiKey }, 1);
  } finally {
    await run('docker', ['tag', NEW_IMAGE, image]);
  }
}

async function roll(stage: Stage): Promise<void> {
  await stage.compose('run', '--rm', '-T', '--no-deps', 'migrate');
  await sleep(OLD_ON_NEW_MS);
  await replaceProcesses(stage);
  for (const service of ['worker', 'second-worker']) {
    const log = await stage.compose('logs', '--no-color', service);
    const [line] = log.split('\n').filter((each) => /nondeterminis|TMPRL1100/i.test(each));
    if (line !== undefined) throw new Error(`${service} cannot go on with a run: ${line}`);
  }
}

/** The newest commit that differs from today's in all that is CHANGED. */
async function findOlder(): Promise<string> {
  const git = async (...args: string[]): Promise<string> => (await run('git', args)).trim();
  const last = await Promise.all(CHANGED.map((path) => git('log', '-1', '--format=%H', '--', path)));
  const heights = await Promise.all(last.map(async (id) => Number(await git('rev-list', '--count', id))));
  const oldest = last[heights.indexOf(Math.min(...heights))];
  return git('rev-parse', '--short', `${oldest}^`);
}

async function buildOlder(commit: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-before-'));
  try {
    await run('sh', ['-c', 'git archive "$1" | tar -x -C "$2"', 'archive', commit, folder]);
    const args = ['build', '--network', 'host', '--tag', OLD_IMAGE, folder];
    await run('docker', args, { env: { ...process.env, DOCKER_BUILDKIT: '0' } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A user with credits and a key, by the commands of docs/operation.md. */
async function makeCaller(stage: Stage): Promise<string> {
  const admin = (...words: string[]): Promise<string> =>
    stage.compose('run', '--rm', '-T', '--no-deps', 'migrate', 'node', 'cli/admin.ts', ...words);
  await admin('create', EMAIL);
  await admin('grant', EMAIL, CREDITS);
  const said = await admin('issue-key', EMAIL, 'upgrade');
  const [, key] = /^key\s+(\S+)/m.exec(said) ?? [];
  if (key === undefined) throw new Error(`The command for a key said: ${said}`);
  return key;
}

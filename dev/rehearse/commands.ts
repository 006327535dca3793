// Runs those commands of docs/operation.md that no drill needs, in containers, as the page says.
import { run } from './engine.ts';
import type { Stage } from './stage.ts';

const LISTENERS = { api: 9090, worker: 9091 } as const;
/** What each has to print; a broken rule or a lost key makes it end with 1, which throws. */
const CHECKS: readonly (readonly [words: readonly string[], says: RegExp])[] = [
  [['cli/db.ts', 'check'], /./],
  [['cli/db.ts', 'secrets'], /^(nothing needs an older key|key ")/m],
  [['cli/admin.ts', 'check'], /./],
];
const NOTE = 'Sorry for the wait';
const CHARGED = `select task_id from task_attempt where state = 'charged' order by charged desc limit 1`;

/** Returns one sentence; throws when a command fails or says something else. */
export async function runCommands(stage: Stage): Promise<string> {
  for (const [service, port] of Object.entries(LISTENERS)) {
    const script = `fetch("http://127.0.0.1:${port}/readyz").then((r) => r.text()).then(console.log)`;
    expectSaid(
      await run('docker', ['exec', await stage.container(service), 'node', '-e', script]),
      /"status":"ok"/,
    );
  }
  const once = (...words: readonly string[]): Promise<string> =>
    stage.compose('run', '--rm', '-T', '--no-deps', 'worker', 'node', ...words);
  for (const [words, says] of CHECKS) expectSaid(await once(...words), says);
  const task = await stage.sql(CHARGED);
  const refund = ['cli/admin.ts', 'refund', task, '0.5', NOTE] as const;
  expectSaid(await once(...refund), /^refunded 0\.5 of .*: balance /m);
  expectSaid(await once(...refund), /^refunded 0\.5 of .* before, with this note: entry /m);
  return 'Readiness, `check`, `secrets` and a refund, sent twice and made once, answered in containers as the page says.';
}

function expectSaid(said: string, expected: RegExp): void {
  if (!expected.test(said)) throw new Error(`a command said what ${expected} does not match: ${said}`);
}

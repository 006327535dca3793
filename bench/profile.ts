// Profiles a process of Node while it works: the shares of its processor time, printed by what they were for.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { printTable } from './measure.ts';

/** Whether `BENCH_PROFILE=1` asks for profiles, whose own cost shows in the figures of a run. */
export const IS_PROFILED = process.env['BENCH_PROFILE'] === '1';

/** Where Node listens once a process was told by SIGUSR1 to let itself be inspected. */
const INSPECTOR = 'http://127.0.0.1:9229/json';
const ATTEMPTS_MAX = 50;
const PAUSE_MS = 100;
const SAMPLE_EVERY_MICROSECONDS = 500;
const FUNCTIONS_SHOWN = 12;

const TARGETS = z.array(z.object({ webSocketDebuggerUrl: z.string() })).min(1);
const PID = z.object({ result: z.object({ value: z.number() }) });
const ANSWER = z.object({ id: z.number(), result: z.unknown() });
/** The part of a V8 profile that is read: https://chromedevtools.github.io/devtools-protocol/v8/Profiler/ */
const PROFILE = z.object({
  profile: z.object({
    nodes: z.array(
      z.object({
        id: z.number(),
        callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
      }),
    ),
    samples: z.array(z.number()),
    timeDeltas: z.array(z.number()),
  }),
});
type Profile = z.infer<typeof PROFILE>['profile'];
type Frame = Profile['nodes'][number]['callFrame'];

/** Runs `work`, and prints what the main thread of this process did meanwhile. */
export async function profileProcess(what: string, pid: number, work: () => Promise<unknown>): Promise<void> {
  process.kill(pid, 'SIGUSR1');
  const inspector = await connect();
  try {
    const { result } = PID.parse(await inspector.send('Runtime.evaluate', { expression: 'process.pid' }));
    if (result.value !== pid) throw new Error(`process ${result.value} is inspected, and not ${pid}`);
    await inspector.send('Profiler.enable');
    await inspector.send('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_MICROSECONDS });
    await inspector.send('Profiler.start');
    await work();
    const { profile } = PROFILE.parse(await inspector.send('Profiler.stop'));
    console.log(`${what}: shares of processor time`);
    printShares('part', sumBy(profile, partOf), Infinity);
    printShares('function', sumBy(profile, describeFrame), FUNCTIONS_SHOWN);
  } finally {
    inspector.close();
  }
}

async function connect(): Promise<{ send: Send; close: () => void }> {
  const socket = new WebSocket(await findAddress());
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('the process cannot be inspected')));
  });
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { success, data: answer } = ANSWER.safeParse(JSON.parse(String(data)));
    if (success) waiting.get(answer.id)?.(answer.result);
  });
  let sent = 0;
  const send: Send = (method, params = {}) =>
    new Promise((resolve) => {
      sent += 1;
      waiting.set(sent, resolve);
      socket.send(JSON.stringify({ id: sent, method, params }));
    });
  return { send, close: () => socket.close() };
}

type Send = (method: string, params?: object) => Promise<unknown>;

async function findAddress(): Promise<string> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    await sleep(PAUSE_MS);
    const listed: unknown = await fetch(INSPECTOR).then(
      (answer) => answer.json(),
      () => null,
    );
    const [target] = TARGETS.safeParse(listed).data ?? [];
    if (target) return target.webSocketDebuggerUrl;
  }
  throw new Error('the process cannot be inspected');
}

/** Milliseconds by what a frame belongs to; time in which there was nothing to do is left out. */
function sumBy(
  { nodes, samples, timeDeltas }: Profile,
  nameOf: (frame: Frame) => string,
): Map<string, number> {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const sums = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id);
    if (!frame || frame.functionName === '(idle)') continue;
    const name = nameOf(frame);
    sums.set(name, (sums.get(name) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
  }
  return sums;
}

function partOf({ functionName, url }: Frame): string {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(program)' || /^write(v|Utf8|Buffer|Latin1)/.test(functionName))
    return 'system calls and the engine';
  const [, own] = url.startsWith(PROJECT) ? (/^([^/]+)/.exec(url.slice(PROJECT.length)) ?? []) : [];
  if (own !== undefined && own !== 'node_modules') return `${own}/`;
  const [, dependency] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  return dependency ?? 'Node itself';
}

/** The project's folder as a URL. */
const PROJECT = new URL('../', import.meta.url).href;

function describeFrame({ functionName, url, lineNumber }: Frame): string {
  const place = url.replace(PROJECT, '').replace(/.*node_modules\//, '');
  return `${functionName || '(anonymous)'} ${place === '' ? '' : `${place}:${lineNumber + 1}`}`.trim();
}

function printShares(what: string, sums: ReadonlyMap<string, number>, shown: number): void {
  const total = [...sums.values()].reduce((sum, ms) => sum + ms, 0);
  const largest = [...sums].sort(([, one], [, other]) => other - one);
  const rows = largest.map(([name, ms]) => [`${((100 * ms) / total).toFixed(1)} %`, name]);
  printTable([['share', what], ...rows.filter(([share = '']) => parseFloat(share) >= 0.5).slice(0, shown)]);
}

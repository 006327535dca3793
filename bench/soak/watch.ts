// Samples memory, open files, queues and loop delay of the processes during a soak, and judges them after it.
import { setTimeout as sleep } from 'node:timers/promises';

export interface Sample {
  part: string;
  /** When the process began, in seconds since 1970; another one of the same part has another. */
  beganAt: number;
  ageSeconds: number;
  memoryMb: number;
  descriptors: number;
  /** What waits in it or runs: requests, waiters for connections, open tasks, webhooks that are due. */
  queued: number;
  /** The 99th percentile since the sample before. */
  loopDelayMs: number;
}

export interface Thresholds {
  warmUpSeconds: number;
  /** Share by which the median of the last third may exceed the median of the first. */
  memoryGrowth: number;
  memoryGrowthMb: number;
  descriptorsGrowth: number;
  queueGrowth: number;
  /** Whether a part none of whose processes lived long enough is a problem. */
  mustJudge: boolean;
  /** Limit of the median of either third. */
  loopDelayMs: number;
}

/** The medians of the first and of the last third of one process's life after warm-up. */
export type Thirds = readonly [first: number, last: number];

export interface Judged {
  part: string;
  memoryMb: Thirds | null;
  descriptors: Thirds | null;
  queued: Thirds | null;
  loopDelayMs: Thirds | null;
  problems: string[];
}

const LOOK_EVERY_MS = 2_000;
/** `/metrics` answers within two seconds, without the database too. */
const ANSWER_MS_MAX = 2_500;
/** Fewest samples of one process that allow a judgement. */
const SAMPLES_MIN = 9;
const BYTES_PER_MB = 1024 ** 2;
const QUEUES = [
  ...['svc_http_requests_in_flight', 'svc_chat_connections_waiting', 'svc_password_hashes_waiting'],
  ...['svc_database_pool_waiters', 'svc_tasks_open', 'svc_webhooks_due'],
];

/** Samples the metrics of all processes until the signal is aborted; one that hangs is left out. */
export async function watch(
  internalUrls: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  while (!signal.aborted) {
    const taken = await Promise.all(
      Object.entries(internalUrls).map(async ([part, url]) => readSample(part, await readMetrics(url))),
    );
    samples.push(...taken.filter((sample) => sample !== null));
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return samples;
}

/** Judges the process of each part that was watched longest: its last third against its first. */
export function judge(
  samples: readonly Sample[],
  parts: readonly string[],
  thresholds: Thresholds,
): Judged[] {
  return parts.map((part) => {
    const mine = samples.filter((sample) => sample.part === part);
    const warm = longest(mine).filter(({ ageSeconds }) => ageSeconds >= thresholds.warmUpSeconds);
    const compare = (read: (sample: Sample) => number): Thirds | null =>
      warm.length < SAMPLES_MIN ? null : thirds(warm.map(read));
    const judged = {
      part,
      memoryMb: compare(({ memoryMb }) => memoryMb),
      descriptors: compare(({ descriptors }) => descriptors),
      queued: compare(({ queued }) => queued),
      loopDelayMs: compare(({ loopDelayMs }) => loopDelayMs),
    };
    return { ...judged, problems: findProblems(judged, thresholds) };
  });
}

function findProblems(
  { part, memoryMb, descriptors, queued, loopDelayMs }: Omit<Judged, 'problems'>,
  thresholds: Thresholds,
): string[] {
  if (!memoryMb || !descriptors || !queued || !loopDelayMs)
    return thresholds.mustJudge ? [`no process of the ${part} lived long enough to be judged`] : [];
  const problems: string[] = [];
  if (memoryMb[1] > memoryMb[0] * (1 + thresholds.memoryGrowth) + thresholds.memoryGrowthMb)
    problems.push(`the memory of the ${part} grew from ${memoryMb[0]} to ${memoryMb[1]} MB`);
  if (descriptors[1] > descriptors[0] + thresholds.descriptorsGrowth)
    problems.push(`the open files of the ${part} grew from ${descriptors[0]} to ${descriptors[1]}`);
  if (queued[1] > queued[0] + thresholds.queueGrowth)
    problems.push(`the queues of the ${part} grew from ${queued[0]} to ${queued[1]}`);
  const delayMs = Math.max(...loopDelayMs);
  if (delayMs > thresholds.loopDelayMs)
    problems.push(`the event loop of the ${part} is late by ${delayMs} ms`);
  return problems;
}

/** The text of `/metrics`; null where the process does not answer. */
async function readMetrics(internalUrl: string): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const response = await fetch(`${internalUrl}/metrics`, { signal });
    return await response.text();
  } catch {
    return null;
  }
}

/** Null where the process says nothing of its memory, which it does on Linux only. */
export function readSample(part: string, metrics: string | null): Sample | null {
  const read = (name: string): number => {
    const lines = (metrics ?? '').matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'));
    return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  const beganAt = read('process_start_time_seconds');
  const memoryBytes = read('process_resident_memory_bytes');
  if (beganAt === 0 || memoryBytes === 0) return null;
  return {
    ...{ part, beganAt, ageSeconds: Date.now() / 1000 - beganAt },
    memoryMb: Math.round(memoryBytes / BYTES_PER_MB),
    descriptors: read('process_open_fds'),
    queued: QUEUES.reduce((sum, name) => sum + read(name), 0),
    loopDelayMs: Math.round(read('nodejs_eventloop_lag_p99_seconds') * 1000),
  };
}

function longest(samples: readonly Sample[]): Sample[] {
  const byProcess = Map.groupBy(samples, ({ beganAt }) => beganAt);
  return [...byProcess.values()].reduce<Sample[]>((best, one) => (one.length > best.length ? one : best), []);
}

function thirds(values: readonly number[]): Thirds {
  const third = Math.floor(values.length / 3);
  return [median(values.slice(0, third)), median(values.slice(-third))];
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

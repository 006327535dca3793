// Another user beside a burst, in a thread of its own: what hundreds of requests cost their sender is not the
// gateway's.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { BenchCaller, type CallerAccount, type Timed } from './callers.ts';

const PAUSE_MS = 20;

export interface Neighbour {
  /** Ends the requests, and resolves to how each was answered. */
  stop(): Promise<readonly Timed[]>;
}

/** Lets this user read and create, one request after the other. Resolves when the first were answered. */
export async function watchNeighbour({ account }: BenchCaller): Promise<Neighbour> {
  const worker = new Worker(new URL(import.meta.url), { workerData: account });
  await once(worker, 'message');
  return {
    stop: async () => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, and no window
      worker.postMessage('stop');
      const [answers] = (await once(worker, 'message')) as [readonly Timed[]];
      return answers;
    },
  };
}

async function callUntilStopped(account: CallerAccount, port: NonNullable<typeof parentPort>): Promise<void> {
  const caller = new BenchCaller(account);
  let isStopped = false;
  port.once('message', () => (isStopped = true));
  await callOnce(caller); // the first ones open connections
  port.postMessage('ready');
  const answers: Timed[] = [];
  while (!isStopped) {
    answers.push(...(await callOnce(caller)));
    await sleep(PAUSE_MS);
  }
  port.postMessage(answers);
}

async function callOnce(caller: BenchCaller): Promise<Timed[]> {
  return [await caller.readBalance(), await caller.createImage('a neighbour [[sandbox seconds=0]]')];
}

if (!isMainThread && parentPort) await callUntilStopped(workerData, parentPort);

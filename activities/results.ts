// Copying results to our storage right after success: a vendor's URL lives between an hour and a month.
import { Readable } from 'node:stream';
import { Context } from '@temporalio/activity';
import type { TaskOutput } from '../db/columns.ts';
import * as submissions from '../db/tasks/submissions.ts';
import { findTask } from '../db/tasks/tasks.ts';
import { fileExtensionOf, sniffMediaType, SNIFF_BYTES, type MediaType } from '../domain/files/media-types.ts';
import type { JobHandle } from '../domain/jobs.ts';
import { isFinal, type TaskAttempt, type TaskMode } from '../domain/tasks.ts';
import { FairShare } from '../providers/http/fair-share.ts';
import { fetchResult, type FetchedResult } from '../providers/http/fetch-result.ts';
import { withTimeLimit } from '../providers/http/time-limit.ts';
import { UpstreamFailure, type Provider, type UpstreamResult } from '../providers/provider.ts';
import { retryWrite } from './activity-retry.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { failTaskWith, retryLater } from './failures.ts';
import { withHeartbeat } from './heartbeat.ts';
import { withPreview } from './previews.ts';
import { forkEm } from '../db/database.ts';

/** The largest result that is copied to storage. */
const RESULT_BYTES_MAX = 2 * 1024 ** 3;
/** A result whose download failed so often is given up. */
const FETCHES_MAX = 8;
const RENEW_LIMIT_MS = 60_000;
/**
 * Downloads from one family at once in a process: the others of a vendor that drips wait for these. One user
 * has half of them at most, so that the results of others are copied meanwhile.
 */
const DOWNLOADS_PER_FAMILY_MAX = 64;
const COPYING = { phase: 'copying the result to storage', everyMs: 4_000 };

export function createResults(dependencies: ActivityDependencies) {
  const { database, secrets, providers, storage } = dependencies;
  const downloads = new Map<string, FairShare>();

  return {
    /** Safe to repeat: what is stored already is not fetched again. */
    async store(task: TaskAttempt): Promise<void> {
      const em = forkEm(database);
      const submission = await submissions.findSubmission(em, task);
      const row = await findTask(em, task.taskId);
      if (submission?.outputs) return;
      const provider = row && providers.get(row.adapter);
      if (!provider || !submission?.handle || !submission.results || !submission.resultsSecretKeyId)
        throw failTaskWith('internal_error');
      const sealed = { secretKeyId: submission.resultsSecretKeyId, bytes: submission.results };
      const { handle } = submission;
      const context = `${task.taskId}:${task.attempt}`;
      const results: KeptResult[] = JSON.parse(secrets.decrypt('result', context, sealed));
      await withHeartbeat(COPYING, async () => {
        const outputs: TaskOutput[] = [];
        for (const [index, result] of results.entries()) {
          const target = { task, index, mode: row.mode };
          const release = await placesOf(provider.family).take(
            row.userId,
            Context.current().cancellationSignal,
          );
          outputs.push(await copy({ provider, handle }, result, target).finally(release));
        }
        const isRecorded = await retryWrite(() =>
          submissions.recordStored(forkEm(database), task, { outputs }),
        );
        if (!isRecorded) await retryWrite(() => removeUnwanted(dependencies, task, outputs));
      });
    },
  };

  function placesOf(family: string): FairShare {
    const places = downloads.get(family) ?? new FairShare(DOWNLOADS_PER_FAMILY_MAX);
    downloads.set(family, places);
    return places;
  }

  async function copy(source: Source, result: KeptResult, target: ResultTarget): Promise<TaskOutput> {
    try {
      const { stream } = await openResult(source, result, target.index);
      const { type, whole } = await sniff(stream);
      if (!type || !type.startsWith(`${target.mode}/`)) {
        whole.destroy();
        throw failTaskWith('result_unavailable'); // a page, a script or half a header instead of the result
      }
      const key = keyOf(target, type);
      const { bytes } = await storage.write(key, whole, { contentType: type });
      return await withPreview(dependencies, { key, contentType: type, bytes });
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      const isHopeless = error.errorClass !== 'transient' || Context.current().info.attempt >= FETCHES_MAX;
      throw isHopeless ? failTaskWith('result_unavailable') : retryLater('result_unavailable');
    }
  }
}

/**
 * Stores results that came with the answer itself. They exist nowhere else, so the write is retried while the
 * storage is away. What is no image is left out.
 */
export async function storeInline(
  dependencies: Pick<ActivityDependencies, 'storage' | 'log'>,
  task: TaskAttempt,
  results: readonly UpstreamResult[],
): Promise<TaskOutput[]> {
  const outputs: TaskOutput[] = [];
  for (const result of results) {
    if (result.kind !== 'inline') continue;
    const type = sniffMediaType(result.bytes.subarray(0, SNIFF_BYTES));
    if (!type?.startsWith('image/')) continue;
    const key = keyOf({ task, index: outputs.length, mode: 'image' }, type);
    await retryWrite(async () => {
      await dependencies.storage.write(key, Readable.from([result.bytes], { objectMode: false }), {
        contentType: type,
      });
    });
    const output = { key, contentType: type, bytes: result.bytes.length };
    outputs.push(await withPreview(dependencies, output, result.bytes));
  }
  return outputs;
}

/**
 * Removes the files of results that were not recorded since their try had been given up or their task had
 * ended: no row names them. Those that were recorded before stay. Throws StorageUnavailable.
 */
export async function removeUnwanted(
  { database, storage }: Pick<ActivityDependencies, 'database' | 'storage'>,
  task: TaskAttempt,
  outputs: readonly TaskOutput[],
): Promise<void> {
  const em = forkEm(database);
  const row = await findTask(em, task.taskId);
  const submission = await submissions.findSubmission(em, task);
  if (submission?.outputs) return;
  const isOpen = row?.attempt === task.attempt && !isFinal(row.status);
  if (!isOpen || submission?.state === 'ended') await removeFiles(storage, outputs);
}

/** Removes the files of outputs, with their previews. Throws StorageUnavailable. */
export async function removeFiles(
  storage: ActivityDependencies['storage'],
  outputs: readonly TaskOutput[],
): Promise<void> {
  for (const { key, previewKey } of outputs) {
    await storage.delete(key);
    if (previewKey !== undefined) await storage.delete(previewKey);
  }
}

/** A result whose address was recorded; `poll_again`: its bytes come with another poll. */
export type KeptResult =
  | Exclude<UpstreamResult, { kind: 'inline' | 'text' }>
  | { kind: 'poll_again'; index: number };

interface Source {
  provider: Provider;
  handle: JobHandle;
}

/**
 * Opens the download. Vendors' links expire, and some can be renewed: an expired one is asked for once more.
 */
async function openResult(source: Source, result: KeptResult, index: number): Promise<FetchedResult> {
  const limits = { handle: source.handle, bytesMax: RESULT_BYTES_MAX };
  if (result.kind === 'poll_again') return fetchResult(source.provider, await renew(source, index), limits);
  try {
    return await fetchResult(source.provider, result, limits);
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || error.errorClass !== 'expired') throw error;
    return fetchResult(source.provider, await renew(source, index), limits);
  }
}

/**
 * Asks for the job once more. As with every look at a job, trouble on the way says nothing of it, and neither
 * does the answer that it still runs, since its success is recorded: both are `transient`.
 */
async function renew({ provider, handle }: Source, index: number): Promise<UpstreamResult> {
  const ask = async (limit: AbortSignal) => provider.poll?.(handle, limit);
  const state = await withTimeLimit(RENEW_LIMIT_MS, undefined, ask).catch((error: unknown) => {
    const isTrouble = error instanceof UpstreamFailure && error.errorClass !== 'expired';
    throw isTrouble ? new UpstreamFailure('transient', 'not_received', { cause: error }) : error;
  });
  const renewed = state?.kind === 'succeeded' ? state.results[index] : undefined;
  if (renewed) return renewed;
  const isUnfinished = state?.kind === 'queued' || state?.kind === 'running';
  throw new UpstreamFailure(isUnfinished ? 'transient' : 'expired', 'refused');
}

/** Where a result belongs. */
interface ResultTarget {
  task: TaskAttempt;
  index: number;
  mode: TaskMode;
}

function keyOf({ task, index }: ResultTarget, type: MediaType): string {
  return `results/${task.taskId}/${task.attempt}/${index}.${fileExtensionOf(type)}`;
}

/** Recognises the media type by the first bytes; `whole` is a stream of all bytes, these included. */
async function sniff(stream: Readable): Promise<{ type: MediaType | null; whole: Readable }> {
  const chunks = stream[Symbol.asyncIterator]();
  const head: Buffer[] = [];
  let bytes = 0;
  while (bytes < SNIFF_BYTES) {
    const { value, done } = await chunks.next();
    if (done) break;
    head.push(value);
    bytes += value.length;
  }
  const start = Buffer.concat(head);
  async function* all(): AsyncGenerator<Buffer> {
    yield start;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  const whole = Readable.from(all(), { objectMode: false });
  whole.once('close', () => stream.destroy());
  return { type: sniffMediaType(start.subarray(0, SNIFF_BYTES)), whole };
}

// MiniMax's second video API (H3): one list of contents with roles, true HTTP statuses, and usage to charge by.
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Evidence } from '../../domain/pricing.ts';
import type { HailuoCalls, HailuoDialect } from './variant.ts';
import { failureAboutJob, failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import { UpstreamFailure, type JobState, type UpstreamJob } from '../provider.ts';
import { membersOf, numberOf, textOf, type Members, type VendorError } from '../http/json-fields.ts';

export const hailuoV2: HailuoDialect = { name: 'v2', submit, poll, cancel };

/** The longest order has 15 seconds and three input videos; a figure beyond this is nonsense. */
const SECONDS_PLAUSIBLE_MAX = 600;

/** Codes in brackets at the end of messages, and codes of failed jobs. */
const CLASS_OF_CODE: Readonly<Record<string, UpstreamErrorClass>> = {
  1002: 'rate',
  1004: 'auth',
  1008: 'quota',
  1026: 'moderation',
  1027: 'moderation',
  2013: 'invalid',
  2049: 'auth',
};
const WORDS: readonly (readonly [RegExp, UpstreamErrorClass])[] = [
  [/sensitive|moderation|policy|violat/, 'moderation'],
  [/balance|quota/, 'quota'],
  [/concurren/, 'concurrency'],
  [/invalid|param|unsupported|decode/, 'invalid'],
];

async function submit(calls: HailuoCalls, job: UpstreamJob) {
  const answer = await calls.post('/v2/video_generation', requestBody(job), submitFailure);
  const { upstreamRequestId } = answer;
  const id = textOf(membersOf(answer.json)['task_id']);
  if (id === null) throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  return { id, upstreamRequestId };
}

async function poll(calls: HailuoCalls, { id }: JobHandle): Promise<JobState> {
  const { json } = await calls.get(`/v2/query/video_generation/${encodeURIComponent(id)}`, pollFailure);
  return readState(membersOf(membersOf(json)['task']));
}

/**
 * The same request stops a job that waits and erases one that has ended, so the state is read first and only a
 * waiting job is touched.
 */
async function cancel(calls: HailuoCalls, handle: JobHandle): Promise<'cancelled' | 'too_late'> {
  const { kind } = await poll(calls, handle);
  if (kind === 'cancelled') return 'cancelled';
  if (kind !== 'queued') return 'too_late';
  try {
    await calls.delete(`/v2/video_generation/${encodeURIComponent(handle.id)}`, pollFailure);
    return 'cancelled';
  } catch (error) {
    // It began in between.
    if (error instanceof UpstreamFailure && error.errorClass === 'invalid') return 'too_late';
    throw error;
  }
}

function requestBody(job: UpstreamJob): Record<string, JsonValue> {
  const { order } = job;
  const body: Record<string, JsonValue> = {
    model: job.upstreamModel,
    content: contentOf(job),
    duration: order.seconds,
  };
  if (order.resolution !== null) body['resolution'] = order.resolution.toUpperCase();
  const followsImage = order.imageRole === 'first_frame' || order.imageRole === 'first_and_last_frame';
  const ratio = followsImage ? 'adaptive' : order.ratio;
  if (ratio !== null) body['ratio'] = ratio;
  return body;
}

function contentOf({ order, prompt, inputImages, inputVideos }: UpstreamJob): JsonValue[] {
  const frames = ['first_frame', 'last_frame'];
  return [
    { type: 'text', text: prompt },
    ...inputImages.map((url, index) => {
      const role = (order.imageRole === 'references' ? undefined : frames[index]) ?? 'reference_image';
      return { type: 'image_url', image_url: { url }, role };
    }),
    ...inputVideos.map((url) => ({ type: 'video_url', video_url: { url }, role: 'reference_video' })),
  ];
}

/** A word nobody has heard of means: still at work. */
function readState(task: Members): JobState {
  switch (task['status']) {
    case 'queued':
      return { kind: 'queued' };
    case 'succeeded':
      return readDone(task);
    case 'failed':
      return readFailed(membersOf(task['error']));
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'expired':
      return { kind: 'expired' };
    default:
      return { kind: 'running', progress: null };
  }
}

/** The link is short-lived; every poll brings a fresh one. */
function readDone(task: Members): JobState {
  const url = textOf(membersOf(task['content'])['url']);
  if (url === null) return { kind: 'failed', errorClass: 'invalid_response', text: null };
  const { output_seconds: output, input_seconds: input } = membersOf(task['usage']);
  const seconds = readSeconds(output);
  const inputVideoSeconds = readSeconds(input);
  const evidence: Evidence = {
    // No finished video has no length at all.
    ...(seconds === null || seconds === 0 ? {} : { seconds }),
    ...(inputVideoSeconds === null ? {} : { inputVideoSeconds }),
  };
  return { kind: 'succeeded', results: [{ kind: 'url', url }], evidence };
}

function readSeconds(value: unknown): number | null {
  const seconds = numberOf(value);
  return seconds !== null && seconds >= 0 && seconds <= SECONDS_PLAUSIBLE_MAX ? seconds : null;
}

function readFailed({ code, message }: Members): JobState {
  const text = textOf(message);
  const errorClass = CLASS_OF_CODE[String(code)] ?? classOfText(text) ?? 'transient';
  return { kind: 'failed', errorClass, text };
}

function classOfText(text: string | null): UpstreamErrorClass | undefined {
  const words = (text ?? '').toLowerCase();
  const code = /[([](\d{4})[)\]]\s*$/.exec(words)?.[1];
  return CLASS_OF_CODE[code ?? ''] ?? WORDS.find(([pattern]) => pattern.test(words))?.[1];
}

function submitFailure(answer: UpstreamResponse): UpstreamFailure {
  return failureOfStatus(answer, refine);
}

/** The status decides, except where one status stands for two classes. */
function refine({ message }: VendorError, status: number): Verdict | undefined {
  const told = classOfText(message);
  if ((status === 400 || status === 422) && told === 'moderation')
    return { errorClass: 'moderation', fate: 'refused' };
  if (status === 429 && told === 'concurrency') return { errorClass: 'concurrency', fate: 'not_received' };
  return undefined;
}

function pollFailure(answer: UpstreamResponse): UpstreamFailure {
  return failureAboutJob(answer, refine);
}

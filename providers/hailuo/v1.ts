// MiniMax's first video API (Hailuo): every answer says with HTTP 200 whether it went well, and the file is a second hop.
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { HailuoCalls, HailuoDialect } from './variant.ts';
import { failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import { UpstreamFailure, type JobState, type UpstreamJob } from '../provider.ts';
import { membersOf, numberOf, textOf, type Members } from '../http/json-fields.ts';

export const hailuoV1: HailuoDialect = { name: 'v1', submit, poll };

/** `base_resp.status_code` of refusals, and of failed jobs. */
const VERDICTS: Readonly<Record<number, Verdict>> = {
  1000: { errorClass: 'transient', fate: 'unknown' },
  1001: { errorClass: 'transient', fate: 'unknown' },
  1002: { errorClass: 'rate', fate: 'not_received' },
  1004: { errorClass: 'auth', fate: 'not_received' },
  1008: { errorClass: 'quota', fate: 'not_received' },
  1013: { errorClass: 'transient', fate: 'unknown' },
  1026: { errorClass: 'moderation', fate: 'refused' },
  1027: { errorClass: 'moderation', fate: 'refused' },
  1028: { errorClass: 'quota', fate: 'not_received' },
  1030: { errorClass: 'quota', fate: 'not_received' },
  2013: { errorClass: 'invalid', fate: 'refused' },
  2049: { errorClass: 'auth', fate: 'not_received' },
  2061: { errorClass: 'quota', fate: 'not_received' },
};

/** Failed jobs mostly have words alone. */
const WORDS: readonly (readonly [RegExp, UpstreamErrorClass])[] = [
  [/sensitive|moderation|policy|violat/, 'moderation'],
  [/balance|insufficient|quota/, 'quota'],
  [/concurren|too many|rate limit/, 'concurrency'],
  [/invalid|param|unsupported|decode/, 'invalid'],
];

async function submit(calls: HailuoCalls, job: UpstreamJob) {
  const answer = await calls.post('/v1/video_generation', requestBody(job), refusedBy);
  const body = membersOf(answer.json);
  const { upstreamRequestId } = answer;
  const refusal = refusalIn(body, upstreamRequestId);
  if (refusal) throw refusal;
  const id = textOf(body['task_id']);
  if (id === null) throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  return { id, upstreamRequestId };
}

async function poll(calls: HailuoCalls, { id }: JobHandle): Promise<JobState> {
  const path = `/v1/query/video_generation?task_id=${encodeURIComponent(id)}`;
  const { json, upstreamRequestId } = await calls.get(path, goneOr);
  const body = membersOf(json);
  switch (body['status']) {
    case 'Preparing':
    case 'Queueing':
      return { kind: 'queued' };
    case 'Success':
      return findFile(calls, body['file_id']);
    case 'Fail':
      return readFailed(body);
  }
  const refusal = refusalIn(body, upstreamRequestId);
  if (refusal) throw refusal.errorClass === 'invalid' ? gone(refusal) : refusal;
  return { kind: 'running', progress: null };
}

/** The link is good for an hour; every poll asks for a fresh one. */
async function findFile(calls: HailuoCalls, fileId: unknown): Promise<JobState> {
  const nothing: JobState = { kind: 'failed', errorClass: 'invalid_response', text: null };
  const id = Number.isSafeInteger(fileId) ? String(fileId) : textOf(fileId);
  if (id === null) return nothing;
  const path = `/v1/files/retrieve?file_id=${encodeURIComponent(id)}`;
  const { json, upstreamRequestId } = await calls.get(path, goneOr);
  const body = membersOf(json);
  const refusal = refusalIn(body, upstreamRequestId);
  if (refusal) throw refusal.errorClass === 'invalid' ? gone(refusal) : refusal;
  const url = textOf(membersOf(body['file'])['download_url']);
  // The vendor bills by the order, so there is nothing to tell about what was delivered.
  return url === null ? nothing : { kind: 'succeeded', results: [{ kind: 'url', url }], evidence: {} };
}

function requestBody(job: UpstreamJob): Record<string, JsonValue> {
  const { order, inputImages } = job;
  const [first, last] = inputImages;
  const body: Record<string, JsonValue> = {
    model: job.upstreamModel,
    prompt: job.prompt,
    duration: order.seconds,
  };
  if (order.resolution !== null) body['resolution'] = order.resolution.toUpperCase();
  if (first !== undefined) body['first_frame_image'] = first;
  if (last !== undefined) body['last_frame_image'] = last;
  return body;
}

function readFailed(body: Members): JobState {
  const { status_code: code, status_msg: message } = membersOf(body['base_resp']);
  const text = textOf(message);
  const words = (text ?? '').toLowerCase();
  const known = VERDICTS[numberOf(code) ?? 0]?.errorClass;
  const errorClass = known ?? WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? 'transient';
  return { kind: 'failed', errorClass, text };
}

/** Null where the answer says that all is well, or nothing at all. */
function refusalIn(body: Members, upstreamRequestId: string | null): UpstreamFailure | null {
  const { status_code: told, status_msg: message } = membersOf(body['base_resp']);
  const code = numberOf(told);
  if (code === null || code === 0) return null;
  const { errorClass, fate } = VERDICTS[code] ?? { errorClass: 'transient', fate: 'unknown' };
  return new UpstreamFailure(errorClass, fate, { text: textOf(message), upstreamRequestId });
}

/** A status outside 2xx may carry the vendor's own code, too. */
function refusedBy(answer: UpstreamResponse): UpstreamFailure {
  const byStatus = failureOfStatus(answer);
  const refusal = refusalIn(readJson(answer.body), answer.upstreamRequestId);
  if (!refusal) return byStatus;
  const { errorClass, fate, text } = refusal.errorClass === 'transient' ? byStatus : refusal;
  const { retryAfterMs, upstreamRequestId } = byStatus;
  return new UpstreamFailure(errorClass, fate, {
    text: text ?? refusal.text,
    retryAfterMs,
    upstreamRequestId,
  });
}

function goneOr(answer: UpstreamResponse): UpstreamFailure {
  const refusal = refusedBy(answer);
  return answer.status === 404 || refusal.errorClass === 'invalid' ? gone(refusal) : refusal;
}

/** A look has no other parameter than an id, so it is the id that the vendor does not know. */
function gone({ text, upstreamRequestId }: UpstreamFailure): UpstreamFailure {
  return new UpstreamFailure('expired', 'refused', { text, upstreamRequestId });
}

function readJson(body: Buffer): Members {
  try {
    return membersOf(JSON.parse(body.toString('utf8')));
  } catch {
    return {};
  }
}

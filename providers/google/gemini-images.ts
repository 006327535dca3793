// Adapter for Google's Gemini images: each call answers with one finished picture, so several take several calls.
import type { JsonValue } from '../../domain/json.ts';
import { isWholeImage } from '../../domain/files/media-types.ts';
import { verdictOnAccount, withRetryDelay } from './errors.ts';
import { requestJson } from '../http/client.ts';
import { failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import { loadInputImages, type InputImage } from '../http/input-images.ts';
import {
  UpstreamFailure,
  type Provider,
  type RequestFate,
  type Submission,
  type UpstreamJob,
} from '../provider.ts';
import { listOf, membersOf, textOf, type Members, type VendorError } from '../http/json-fields.ts';
import { credentialIds, findCredential, originCheck, type AdapterSettings } from '../settings.ts';

export const NAME = 'gemini-images';
export const FAMILY = 'gemini';

/** A 4K picture in base64, and the drafts that a thinking model may add. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Why there is no picture: the content. Other reasons, such as `NO_IMAGE`, say nothing against it. */
const MODERATION_REASONS = new Set([
  'SAFETY',
  'IMAGE_SAFETY',
  'PROHIBITED_CONTENT',
  'IMAGE_PROHIBITED_CONTENT',
  'BLOCKLIST',
  'SPII',
  'RECITATION',
  'IMAGE_RECITATION',
]);

export function createGeminiImages(settings: AdapterSettings): Provider {
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'immediate',
    credentials: credentialIds(settings),
    submit: (job, signal) => submit(settings, job, signal),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

interface Painted {
  bytes: Buffer;
  upstreamRequestId: string | null;
}

/** What was delivered counts, also when other calls failed: those pictures are not paid for. */
async function submit(
  settings: AdapterSettings,
  job: UpstreamJob,
  signal?: AbortSignal,
): Promise<Submission> {
  findCredential(settings, job.credential);
  const body = JSON.stringify(requestBody(job, await loadInputImages(job.inputImages, signal)));
  const calls = Array.from({ length: Math.max(job.order.images, 1) }, () =>
    paint(settings, job, body, signal),
  );
  const { painted, failures } = sort(await Promise.allSettled(calls));
  const [first] = painted;
  // Somebody who no longer waits gets nothing, and pays nothing.
  if (first === undefined || signal?.aborted) throw gravest(failures);
  return {
    kind: 'finished',
    results: painted.map(({ bytes }) => ({ kind: 'inline', bytes })),
    evidence: { images: painted.length },
    upstreamRequestId: first.upstreamRequestId,
  };
}

async function paint(
  settings: AdapterSettings,
  job: UpstreamJob,
  body: string,
  signal?: AbortSignal,
): Promise<Painted> {
  const { json, upstreamRequestId } = await requestJson(
    {
      method: 'POST',
      url: `${settings.baseUrl}/models/${encodeURIComponent(job.upstreamModel)}:generateContent`,
      headers: {
        'x-goog-api-key': findCredential(settings, job.credential).key,
        'content-type': 'application/json',
      },
      body,
      timeoutMs: settings.upstreamTimeoutMs,
      bytesMax: ANSWER_BYTES_MAX,
      signal,
    },
    submitFailure,
  );
  const answer = membersOf(json);
  const id = textOf(answer['responseId']) ?? upstreamRequestId;
  const bytes = readImage(answer);
  if (bytes === null) throw failureWithoutImage(answer, id);
  return { bytes, upstreamRequestId: id };
}

function sort(settled: readonly PromiseSettledResult<Painted>[]) {
  const painted: Painted[] = [];
  const failures: UpstreamFailure[] = [];
  for (const result of settled) {
    if (result.status === 'fulfilled') painted.push(result.value);
    else if (result.reason instanceof UpstreamFailure) failures.push(result.reason);
    else throw result.reason;
  }
  return { painted, failures };
}

/** Of calls that all failed: if one may have been taken, or was refused, the work must not be handed over again. */
function gravest(failures: readonly UpstreamFailure[]): UpstreamFailure {
  const fates: readonly RequestFate[] = ['unknown', 'refused', 'not_received'];
  const byGravity = fates.flatMap((fate) => failures.filter((failure) => failure.fate === fate));
  return byGravity[0] ?? new UpstreamFailure('transient', 'unknown');
}

/** The sizes are written with a capital K. */
function requestBody({ order, prompt }: UpstreamJob, inputImages: readonly InputImage[]): JsonValue {
  const images = inputImages.map(({ type, bytes }) => ({
    inlineData: { mimeType: type, data: bytes.toString('base64') },
  }));
  const aspectRatio = order.ratio === null ? {} : { aspectRatio: order.ratio };
  const imageSize = order.resolution === null ? {} : { imageSize: order.resolution };
  return {
    contents: [{ role: 'user', parts: [{ text: prompt }, ...images] }],
    generationConfig: {
      responseModalities: ['IMAGE'],
      imageConfig: { ...aspectRatio, ...imageSize },
    },
  };
}

/** The first picture that is one. Parts flagged as thought are drafts. */
function readImage(answer: Members): Buffer | null {
  const { content } = membersOf(listOf(answer['candidates'])[0]);
  for (const part of listOf(membersOf(content)['parts']).map(membersOf)) {
    if (part['thought'] === true) continue;
    const data = textOf(membersOf(part['inlineData'])['data']);
    // Buffer skips what is not base64; a picture with holes is none.
    if (data === null || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) continue;
    const bytes = Buffer.from(data, 'base64');
    if (isWholeImage(bytes)) return bytes;
  }
  return null;
}

/** The answer is complete, so no work is left at the vendor that somebody could miss. */
function failureWithoutImage(answer: Members, upstreamRequestId: string | null): UpstreamFailure {
  const feedback = membersOf(answer['promptFeedback']);
  const candidate = membersOf(listOf(answer['candidates'])[0]);
  const blockReason = textOf(feedback['blockReason']);
  const finishReason = textOf(candidate['finishReason']);
  const isBlocked = blockReason !== null || MODERATION_REASONS.has(finishReason ?? '');
  const text = textOf(feedback['blockReasonMessage']) ?? textOf(candidate['finishMessage']);
  return new UpstreamFailure(isBlocked ? 'moderation' : 'invalid_response', 'refused', {
    text: text ?? blockReason ?? (finishReason === 'STOP' ? null : finishReason),
    upstreamRequestId,
  });
}

function submitFailure(answer: UpstreamResponse): UpstreamFailure {
  return withRetryDelay(answer, failureOfStatus(answer, refine));
}

function refine({ type, message }: VendorError, status: number): Verdict | undefined {
  const account = verdictOnAccount(message?.toLowerCase() ?? '');
  if (account) return account;
  // The end of the call in the vendor's own words: it gave up, and no work is left there that somebody could miss.
  if ((type === 'internal' && status === 500) || type === 'cancelled')
    return { errorClass: 'transient', fate: 'refused' };
  return undefined;
}

// Adapter for Google's Gemini images: each request answers with one finished picture, so several take several
// requests.
import { isWholeResultImage } from '../../domain/files/whole-results.ts';
import { authorizeByApiKey } from './api-key.ts';
import { verdictOnAccount, withRetryDelay } from './errors.ts';
import { requestIdOf } from '../http/client.ts';
import { createJsonApi, type JsonApi, type JsonObject } from '../http/json-api.ts';
import { failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import { loadInputImages, type InputImage } from '../http/input-images.ts';
import {
  UpstreamFailure,
  type Provider,
  type RequestFate,
  type Submission,
  type UpstreamJob,
} from '../provider.ts';
import { bytesOf, listOf, membersOf, textOf, type Members, type VendorError } from '../http/json-fields.ts';
import { everyCredential, findCredential, originCheck, type AdapterSettings } from '../settings.ts';

export const NAME = 'gemini-images';
export const FAMILY = 'gemini';

/** Room for a 4K picture in base64 and the drafts that a thinking model may add. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Finish reasons that object to the content; others, such as `NO_IMAGE`, do not. */
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
  const api = createJsonApi(settings, authorizeByApiKey);
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'immediate',
    credentialsFor: everyCredential(settings),
    submit: (job, signal) => submit(api, settings, job, signal),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

interface GeneratedImage {
  bytes: Buffer;
  upstreamRequestId: string | null;
}

/** Pictures that were delivered count even if other requests failed: those are not charged. */
async function submit(
  api: JsonApi,
  settings: AdapterSettings,
  job: UpstreamJob,
  signal?: AbortSignal,
): Promise<Submission> {
  // Before any image is fetched in vain.
  findCredential(settings, job.credential);
  const body = JSON.stringify(requestBody(job, await loadInputImages(job.inputImages, signal)));
  const requests = Array.from({ length: Math.max(job.order.images, 1) }, () =>
    generateImage(api, job, body, signal),
  );
  const { images, failures } = splitByOutcome(await Promise.allSettled(requests));
  const [first] = images;
  // Cancelled before all requests ended: their results are discarded, and nothing is charged.
  if (first === undefined || signal?.aborted) throw gravestOf(failures);
  return {
    kind: 'finished',
    results: images.map(({ bytes }) => ({ kind: 'inline', bytes })),
    evidence: { images: images.length },
    upstreamRequestId: first.upstreamRequestId,
  };
}

/** `body`: the serialized request, shared by all requests of the job. */
async function generateImage(
  api: JsonApi,
  job: UpstreamJob,
  body: string,
  signal?: AbortSignal,
): Promise<GeneratedImage> {
  const { json, upstreamRequestId } = await api.send({
    method: 'POST',
    path: `/models/${encodeURIComponent(job.upstreamModel)}:generateContent`,
    credential: job.credential,
    json: body,
    bytesMax: ANSWER_BYTES_MAX,
    signal,
    toFailure: submitFailure,
  });
  const answer = membersOf(json);
  const id = requestIdOf(answer['responseId']) ?? upstreamRequestId;
  const bytes = readImage(answer);
  if (bytes === null) throw failureWithoutImage(answer, id);
  return { bytes, upstreamRequestId: id };
}

function splitByOutcome(settled: readonly PromiseSettledResult<GeneratedImage>[]) {
  const images: GeneratedImage[] = [];
  const failures: UpstreamFailure[] = [];
  for (const result of settled) {
    if (result.status === 'fulfilled') images.push(result.value);
    else if (result.reason instanceof UpstreamFailure) failures.push(result.reason);
    else throw result.reason;
  }
  return { images, failures };
}

/**
 * The failure that decides when all requests failed: if one may have been taken, or was refused, the work
 * must not be handed over again.
 */
function gravestOf(failures: readonly UpstreamFailure[]): UpstreamFailure {
  const fates: readonly RequestFate[] = ['unknown', 'refused', 'not_received'];
  const byGravity = fates.flatMap((fate) => failures.filter((failure) => failure.fate === fate));
  return byGravity[0] ?? new UpstreamFailure('transient', 'unknown');
}

/** Resolutions are written with a capital K, as ours are. */
function requestBody({ order, prompt }: UpstreamJob, inputImages: readonly InputImage[]): JsonObject {
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

/** The first whole picture, or null. Parts flagged as thought are drafts. */
function readImage(answer: Members): Buffer | null {
  const { content } = membersOf(listOf(answer['candidates'])[0]);
  for (const part of listOf(membersOf(content)['parts']).map(membersOf)) {
    if (part['thought'] === true) continue;
    const bytes = bytesOf(membersOf(part['inlineData'])['data']);
    if (bytes !== null && isWholeResultImage(bytes)) return bytes;
  }
  return null;
}

/** The answer is complete, so no work is left at the vendor: the fate is `refused`. */
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

function submitFailure(response: UpstreamResponse): UpstreamFailure {
  return withRetryDelay(response, failureOfStatus(response, refine));
}

function refine({ type, message }: VendorError, status: number): Verdict | undefined {
  const account = verdictOnAccount(message);
  if (account) return account;
  // The vendor's own report that it gave up, so no unfinished work is left there.
  if ((type === 'internal' && status === 500) || type === 'cancelled')
    return { errorClass: 'transient', fate: 'refused' };
  return undefined;
}

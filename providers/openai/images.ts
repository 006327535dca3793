// Adapter for OpenAI's images: one call that answers with the finished pictures.
import { Blob } from 'node:buffer';
import { FormData } from 'undici';
import { isWholeResultImage } from '../../domain/files/whole-results.ts';
import { QUOTA_CODES } from '../chat/refinement.ts';
import { createJsonApi, type JsonApi } from '../http/json-api.ts';
import { failureOfStatus, type Verdict } from '../http/status.ts';
import { loadInputImages, type InputImage } from '../http/input-images.ts';
import { sizeOf } from './image-sizes.ts';
import { UpstreamFailure, type Provider, type Submission, type UpstreamJob } from '../provider.ts';
import { bytesOf, listOf, membersOf, readVendorError, type VendorError } from '../http/json-fields.ts';
import { everyCredential, findCredential, originCheck, type AdapterSettings } from '../settings.ts';

export const NAME = 'openai-images';
export const FAMILY = 'openai';

/**
 * The largest picture on offer has 8,294,400 pixels, which are 32 MiB in base64 even if nothing is
 * compressed.
 */
const ANSWER_BYTES_PER_IMAGE_MAX = 40 * 1024 * 1024;
/**
 * Our price depends on the resolution alone, and of the vendor's qualities only this one costs less than it
 * at every resolution: output tokens grow with the square of the quality (16, 48, 96 for low, medium, high on
 * gpt-image-2), so 1K costs about $0.006, $0.053, $0.211 against a price of $0.02.
 */
const QUALITY = 'low';

const MODERATION_CODES = new Set(['moderation_blocked', 'content_policy_violation']);

export function createOpenaiImages(settings: AdapterSettings): Provider {
  const api = createJsonApi(settings);
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'immediate',
    credentialsFor: everyCredential(settings),
    submit: (job, signal) => submit(api, settings, job, signal),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

async function submit(
  api: JsonApi,
  settings: AdapterSettings,
  job: UpstreamJob,
  signal?: AbortSignal,
): Promise<Submission> {
  // Before any image is fetched in vain.
  findCredential(settings, job.credential);
  const fields = requestFields(job);
  const inputImages = await loadInputImages(job.inputImages, signal);
  const content =
    inputImages.length === 0
      ? { path: '/images/generations', json: fields }
      : { path: '/images/edits', form: requestForm(fields, inputImages) };
  const { json, upstreamRequestId } = await api.send({
    ...content,
    method: 'POST',
    credential: job.credential,
    bytesMax: fields.n * ANSWER_BYTES_PER_IMAGE_MAX,
    signal,
    toFailure: (response) => failureOfStatus(response, refine),
  });
  const images = readImages(json).slice(0, fields.n);
  if (images.length === 0) throw failureWithoutImages(json, upstreamRequestId);
  return {
    kind: 'finished',
    results: images.map((bytes) => ({ kind: 'inline', bytes })),
    evidence: { images: images.length },
    upstreamRequestId,
  };
}

/**
 * Every choice is sent, so that none of the vendor's defaults decides. There is no `response_format` any
 * more.
 */
function requestFields(job: UpstreamJob) {
  const size = sizeOf(job.order.ratio ?? '1:1', job.order.resolution ?? '1K');
  if (size === null) throw new UpstreamFailure('invalid', 'refused', { text: 'This size is not offered.' });
  return {
    model: job.upstreamModel,
    prompt: job.prompt,
    n: Math.max(job.order.images, 1),
    size,
    quality: job.order.quality ?? QUALITY,
    output_format: 'png',
  };
}

function requestForm(fields: ReturnType<typeof requestFields>, inputImages: readonly InputImage[]): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  inputImages.forEach(({ type, bytes }, index) => {
    const extension = type.slice('image/'.length);
    form.append('image[]', new Blob([bytes], { type }), `image-${index + 1}.${extension}`);
  });
  return form;
}

/** Items that are missing, cannot be decoded or are no picture do not count and are not charged. */
function readImages(json: unknown): Buffer[] {
  return listOf(membersOf(json)['data'])
    .map((item) => bytesOf(membersOf(item)['b64_json']))
    .filter((bytes) => bytes !== null)
    .filter((bytes) => isWholeResultImage(bytes));
}

/**
 * Compatible services report some errors with status 200. The answer is complete, so no work is left at the
 * vendor and the fate is known.
 */
function failureWithoutImages(json: unknown, upstreamRequestId: string | null): UpstreamFailure {
  const error = membersOf(json)['error'] === undefined ? null : readVendorError(json);
  const verdict = error === null ? undefined : refine(error, 200);
  return new UpstreamFailure(verdict?.errorClass ?? 'invalid_response', verdict?.fate ?? 'refused', {
    text: error?.message ?? null,
    upstreamRequestId,
  });
}

/**
 * OpenAI sends a moderated prompt with 400, a used-up account with 429, a retired model with 400, 403 or 404.
 */
function refine(error: VendorError, status: number): Verdict | undefined {
  const words = [error.code ?? '', error.type ?? ''];
  if (words.some((word) => MODERATION_CODES.has(word))) return { errorClass: 'moderation', fate: 'refused' };
  if (words.some((word) => QUOTA_CODES.has(word))) return { errorClass: 'quota', fate: 'not_received' };
  if (words.includes('model_not_found')) return { errorClass: 'model_retired', fate: 'refused' };
  // The vendor's own report that it gave up, so no unfinished work is left there.
  if (words.includes('server_error') && status === 500) return { errorClass: 'transient', fate: 'refused' };
  return undefined;
}

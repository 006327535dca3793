// Adapter for Google's Gemini Omni videos: an interaction in the background, whose last answer holds the
// video itself.
import type { ImageRole } from '../../domain/catalog/catalog.ts';
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import { isWholeResultVideo } from '../../domain/files/whole-results.ts';
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { acceptedJob } from '../accepted-job.ts';
import { loadInputImages, type InputImage } from '../http/input-images.ts';
import { createJsonApi, type JsonApi, type JsonObject } from '../http/json-api.ts';
import { bytesOf, listOf, membersOf, numberOf, textOf, type Members } from '../http/json-fields.ts';
import { meaningOf } from '../patterns.ts';
import {
  UpstreamFailure,
  type Cancellation,
  type JobState,
  type Provider,
  type Submission,
  type UpstreamJob,
} from '../provider.ts';
import { everyCredential, findCredential, originCheck, type AdapterSettings } from '../settings.ts';
import { authorizeByApiKey } from './api-key.ts';
import { classOfMessage, pollFailure, submitFailure } from './veo-errors.ts';

export const NAME = 'gemini-omni';
export const FAMILY = 'gemini';

/** The video comes in base64; ten seconds of 1080p have some 30 MB. */
const INTERACTION_BYTES_MAX = 256 * 1024 * 1024;
/** What the vendor does with the pictures; the catalogue offers no other use of them. */
const TASKS: Partial<Record<ImageRole, string>> = {
  first_frame: 'image_to_video',
  references: 'reference_to_video',
};
/** Micro-credits for a token: Google's $17.50, $9 and $1.50 for a million, as resellers quote them. */
const COSTS = { video: 3_500, text: 1_800, input: 300 } as const;
/** More than a model of this kind reads or writes at once. */
const TOKENS_MAX = 2_000_000;
/** How an interaction ends without a video, by its status (@google/genai 3.1.0, `InteractionStatus`). */
const ENDS: Readonly<Record<string, UpstreamErrorClass>> = {
  failed: 'transient',
  incomplete: 'transient',
  budget_exceeded: 'quota',
  requires_action: 'invalid_response',
  requires_continuation: 'invalid_response',
};

/** The vendor has no list, and its interactions take no reference, so lost work stays lost. */
export function createGeminiOmni(settings: AdapterSettings): Provider {
  const api = createJsonApi(settings, authorizeByApiKey);
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'job',
    credentialsFor: everyCredential(settings),
    submit: (job) => submit(api, settings, job),
    poll: (handle, signal) => poll(api, handle, signal),
    cancel: (handle, signal) => cancel(api, handle, signal),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

async function submit(api: JsonApi, settings: AdapterSettings, job: UpstreamJob): Promise<Submission> {
  // Before any image is fetched in vain.
  findCredential(settings, job.credential);
  const { json, upstreamRequestId } = await api.send({
    method: 'POST',
    path: '/interactions',
    credential: job.credential,
    json: requestBody(job, await loadInputImages(job.inputImages)),
    toFailure: submitFailure,
  });
  return acceptedJob(job, membersOf(json)['id'], upstreamRequestId);
}

/**
 * A 404 is thrown as `expired`, `refused`: only the caller knows whether the job is new or was removed.
 */
async function poll(api: JsonApi, { id, credential }: JobHandle, signal?: AbortSignal): Promise<JobState> {
  const { json } = await api.send({
    method: 'GET',
    path: pathOf(id),
    credential,
    bytesMax: INTERACTION_BYTES_MAX,
    signal,
    toFailure: pollFailure,
  });
  return readState(membersOf(json));
}

/** Only what is under way can be cancelled. */
async function cancel(
  api: JsonApi,
  { id, credential }: JobHandle,
  signal?: AbortSignal,
): Promise<Cancellation> {
  const path = `${pathOf(id)}/cancel`;
  try {
    const request = { method: 'POST', path, credential, signal, toFailure: pollFailure } as const;
    const { json } = await api.send({ ...request, json: {}, bytesMax: INTERACTION_BYTES_MAX });
    return membersOf(json)['status'] === 'cancelled' ? 'cancelled' : 'too_late';
  } catch (error) {
    if (error instanceof UpstreamFailure && error.errorClass === 'invalid') return 'too_late';
    throw error;
  }
}

function pathOf(id: string): string {
  return `/interactions/${encodeURIComponent(id)}`;
}

/** Every choice is sent: the length above all, which the prompt would decide otherwise, and so the price. */
function requestBody(
  { upstreamModel, order, prompt }: UpstreamJob,
  inputImages: readonly InputImage[],
): JsonObject {
  const images = inputImages.map(({ type, bytes }) => ({
    type: 'image',
    data: bytes.toString('base64'),
    mime_type: type,
  }));
  const format: Record<string, JsonValue> = {
    type: 'video',
    duration: `${order.seconds}s`,
    delivery: 'inline',
  };
  if (order.resolution !== null) format['resolution'] = order.resolution;
  if (order.ratio !== null) format['aspect_ratio'] = order.ratio;
  const task = TASKS[order.imageRole] ?? 'text_to_video';
  return {
    model: upstreamModel,
    input: [...images, { type: 'text', text: prompt }],
    response_format: format,
    generation_config: { video_config: { task } },
    background: true,
  };
}

/** The vendor reports no progress, and what it does not know yet reads as under way. */
function readState(interaction: Members): JobState {
  const status = textOf(interaction['status']);
  if (status === 'completed') return readCompleted(interaction);
  if (status === 'cancelled') return { kind: 'cancelled' };
  if (status === 'queued') return { kind: 'queued' };
  const end = meaningOf(ENDS, status);
  const text = readErrorText(interaction);
  // An interaction that was refused while it ran has an error and no status.
  if (end === undefined && (status !== null || text === null)) return { kind: 'running', progress: null };
  return { kind: 'failed', errorClass: classOfMessage(text) ?? end ?? 'transient', text };
}

/** A completed interaction without a video was filtered; the model then says why in words. */
function readCompleted(interaction: Members): JobState {
  const contents = outputsOf(interaction);
  const video = contents.find(({ type }) => type === 'video');
  if (!video) {
    const said = contents.map(({ text }) => textOf(text)).filter((text) => text !== null);
    const text = readErrorText(interaction) ?? textOf(said.join(' '));
    return { kind: 'failed', errorClass: 'moderation', text };
  }
  const bytes = bytesOf(video['data']);
  if (!bytes || !isWholeResultVideo(bytes))
    return { kind: 'failed', errorClass: 'invalid_response', text: null };
  const evidence = readEvidence(membersOf(interaction['usage']));
  return { kind: 'succeeded', results: [{ kind: 'inline', bytes }], evidence };
}

/** The price follows from the length that was ordered; what the tokens cost shows whether it covers them. */
function readEvidence(usage: Members): Evidence {
  const outputs = listOf(usage['output_tokens_by_modality']).map(membersOf);
  const video = readTokens(outputs.find(({ modality }) => modality === 'video')?.['tokens']);
  if (video === null) return {};
  const others =
    Math.max((readTokens(usage['total_output_tokens']) ?? 0) - video, 0) +
    (readTokens(usage['total_thought_tokens']) ?? 0);
  const input = readTokens(usage['total_input_tokens']) ?? 0;
  const cost = video * COSTS.video + others * COSTS.text + input * COSTS.input;
  return { vendorCost: BigInt(cost) };
}

/** A number of tokens above zero, or null for what makes no sense. */
function readTokens(value: unknown): number | null {
  const tokens = numberOf(value);
  const isPlausible = tokens !== null && Number.isInteger(tokens) && tokens > 0 && tokens <= TOKENS_MAX;
  return isPlausible ? tokens : null;
}

/** What the model put out, without the request, which is among the steps too. */
function outputsOf(interaction: Members): Members[] {
  const steps = listOf(interaction['steps']).map(membersOf);
  const outputs = steps.filter(({ type }) => type === 'model_output');
  return outputs.flatMap(({ content }) => listOf(content).map(membersOf));
}

function readErrorText(interaction: Members): string | null {
  const steps = listOf(interaction['steps']).map((step) => membersOf(membersOf(step)['error']));
  const errors = [...listOf(interaction['errors']), interaction['error']].map(membersOf);
  const texts = [...errors, ...steps].map(({ message }) => textOf(message));
  return texts.find((text) => text !== null) ?? null;
}

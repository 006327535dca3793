// Adapter for Google's Veo videos: one long-running operation, on the Gemini API or on Vertex, as the base
// URL says.
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import { isWholeResultVideo } from '../../domain/files/whole-results.ts';
import { mapFailureText } from './errors.ts';
import { acceptedJob, jobIdOf } from '../accepted-job.ts';
import { createTokenSource } from './token.ts';
import { createJsonApi, type JsonApi, type JsonApiRequest, type JsonObject } from '../http/json-api.ts';
import { loadInputImages, type InputImage } from '../http/input-images.ts';
import {
  UpstreamFailure,
  type JobState,
  type Provider,
  type Submission,
  type UpstreamJob,
  type UpstreamResult,
} from '../provider.ts';
import { listOf, membersOf, textOf, type Members } from '../http/json-fields.ts';
import { everyCredential, findCredential, originCheck, type AdapterSettings } from '../settings.ts';
import { classOfOperation, isCancellation, pollFailure, submitFailure } from './veo-errors.ts';
import { serviceAt, type VeoService } from './veo-service.ts';

export const NAME = 'veo';
export const FAMILY = 'veo';

/** Vertex answers with the video itself in base64; 8 seconds of 4k have some 60 MB. */
const OPERATION_BYTES_MAX = 256 * 1024 * 1024;

interface Context {
  settings: AdapterSettings;
  service: VeoService;
  api: JsonApi;
}

/** The vendor has no cancel and no list. `now` is in milliseconds. */
export function createVeo(settings: AdapterSettings, now: () => number = Date.now): Provider {
  const service = serviceAt(settings.baseUrl, createTokenSource(now));
  const api = createJsonApi({ ...settings, baseUrl: service.baseUrl }, service.authorize);
  const context = { settings, service, api };
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'job',
    credentialsFor: everyCredential(settings),
    submit: (job) => submit(context, job),
    poll: (handle, signal) => poll(context, handle, signal),
    downloadHeaders: async ({ credential }) => service.authorize(findCredential(settings, credential)),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

async function submit(context: Context, job: UpstreamJob): Promise<Submission> {
  const { service, settings } = context;
  // Before any image is fetched in vain.
  findCredential(settings, job.credential);
  const { json, upstreamRequestId } = await send(context, {
    method: 'POST',
    path: service.submitPath(job.upstreamModel),
    credential: job.credential,
    json: requestBody(service, job, await loadInputImages(job.inputImages)),
    toFailure: submitFailure,
  });
  const operation = jobIdOf(membersOf(json)['name']);
  // The name becomes part of a path.
  if (operation === null || !/^[\w@-][\w.@-]*(\/[\w@-][\w.@-]*)*$/.test(operation))
    throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  // The id is shown to the owner, and the whole name contains the operator's project.
  const id = operation.slice(operation.lastIndexOf('/') + 1);
  const details = { dialect: service.name, operation, model: job.upstreamModel };
  return acceptedJob(job, id, upstreamRequestId, details);
}

/**
 * A 404 is thrown as `expired`, `refused`: only the caller knows whether the job is new or past its two days.
 */
async function poll(context: Context, handle: JobHandle, signal?: AbortSignal): Promise<JobState> {
  const { service } = context;
  // The settings now point to the other service, which does not know this job.
  if (handle['dialect'] !== service.name) throw new UpstreamFailure('expired', 'refused');
  const operation = textOf(handle['operation']) ?? handle.id;
  const { json } = await send(context, {
    ...service.pollRequest(operation, textOf(handle['model']) ?? ''),
    credential: handle.credential,
    bytesMax: OPERATION_BYTES_MAX,
    isRead: true,
    signal,
    toFailure: pollFailure,
  });
  const state = readState(membersOf(json));
  if (state.kind !== 'failed' || state.text === null) return state;
  return { ...state, text: service.withoutProject(state.text) };
}

/** Refused authorization is not reused, and the vendor's text is freed of the operator's project. */
async function send({ api, service }: Context, request: JsonApiRequest) {
  try {
    return await api.send(request);
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    if (error.errorClass === 'auth') service.invalidate(request.credential);
    throw mapFailureText(error, service.withoutProject);
  }
}

/** Every choice is sent: the vendor's own defaults must never decide. */
function requestBody(
  service: VeoService,
  { order, prompt, negativePrompt }: UpstreamJob,
  inputImages: readonly InputImage[],
): JsonObject {
  const images = inputImages.map(({ type, bytes }) => {
    return { bytesBase64Encoded: bytes.toString('base64'), mimeType: type };
  });
  const instance: Record<string, JsonValue> = { prompt };
  const [first, last] = images;
  if (order.imageRole === 'references')
    instance['referenceImages'] = images.map((image) => ({ image, referenceType: 'asset' }));
  else {
    if (first) instance['image'] = first;
    if (last) instance['lastFrame'] = last;
  }
  const parameters: Record<string, JsonValue> = { durationSeconds: order.seconds, sampleCount: 1 };
  if (order.resolution !== null) parameters['resolution'] = order.resolution;
  if (order.ratio !== null) parameters['aspectRatio'] = order.ratio;
  if (negativePrompt !== null) parameters['negativePrompt'] = negativePrompt;
  // The Gemini API always makes sound and refuses to be asked.
  if (order.audio !== null && service.name === 'vertex') parameters['generateAudio'] = order.audio;
  return { instances: [instance], parameters };
}

/** The vendor reports no progress: an operation is done or it is not. */
function readState(operation: Members): JobState {
  const { done, error, response } = operation;
  if (typeof error === 'object' && error !== null) return readFailed(membersOf(error));
  if (done !== true) return { kind: 'running', progress: null };
  if (typeof response !== 'object' || response === null)
    return { kind: 'failed', errorClass: 'invalid_response', text: null };
  return readDone(membersOf(response));
}

/** The Gemini API wraps its samples, Vertex does not; what is missing was filtered out. */
function readDone(response: Members): JobState {
  const wrapped = membersOf(response['generateVideoResponse']);
  const videos = [
    ...listOf(wrapped['generatedSamples']).map((sample) => membersOf(membersOf(sample)['video'])),
    ...listOf(response['videos']).map(membersOf),
  ];
  if (videos.length === 0) {
    const reasons = listOf(wrapped['raiMediaFilteredReasons'] ?? response['raiMediaFilteredReasons']);
    return {
      kind: 'failed',
      errorClass: 'moderation',
      text: textOf(
        reasons
          .map(textOf)
          .filter((reason) => reason !== null)
          .join(' '),
      ),
    };
  }
  const [result] = videos.map(readVideo).filter((video) => video !== null);
  if (!result) return { kind: 'failed', errorClass: 'invalid_response', text: null };
  // The vendor bills by the order and reports nothing about what was delivered.
  return { kind: 'succeeded', results: [result], evidence: {} };
}

function readVideo(video: Members): UpstreamResult | null {
  const uri = textOf(video['uri']);
  if (uri !== null) return { kind: 'guarded_url', url: uri };
  const data = textOf(video['bytesBase64Encoded']) ?? textOf(video['encodedVideo']);
  const bytes = data === null ? null : Buffer.from(data, 'base64');
  return bytes && isWholeResultVideo(bytes) ? { kind: 'inline', bytes } : null;
}

function readFailed(error: Members): JobState {
  if (isCancellation(error)) return { kind: 'cancelled' };
  return { kind: 'failed', errorClass: classOfOperation(error), text: textOf(error['message']) };
}

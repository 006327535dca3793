// Veo (Google) on Vertex: an access token, polls by POST, and the video itself in the last answer.

import { randomUUID } from 'node:crypto';
import { type Answer, json } from '../answers.ts';
import type { Job } from '../jobs.ts';
import { nextDirectives, requireJob } from '../polling.ts';
import { isFields, readJsonObject, requireBearerKey } from '../requests.ts';
import { inlineResult, sendInline } from '../results.ts';
import { beginSubmission, confirmSubmission, createJob } from '../submissions.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { googleErrorFormat } from './error-format.ts';
import { videoOf, operationAnswer } from './veo-operation.ts';
import { checkVeoOrder, promptOf, VERTEX_PARAMETERS } from './veo-order.ts';

const MODEL_PATH = '/v1/projects/{project}/locations/{location}/publishers/google/models/{model}';

export const veoVertex: VendorApi = {
  vendor: 'veo',
  prefix: '/google',
  errorFormat: googleErrorFormat,
  routes: [
    { method: 'POST', path: `${MODEL_PATH}:predictLongRunning`, operation: 'submit', handle: generate },
    { method: 'POST', path: `${MODEL_PATH}:fetchPredictOperation`, operation: 'poll', handle: poll },
    { method: 'POST', path: '/token', operation: 'other', handle: exchangeToken },
  ],
};

const SECONDS_BY_DEFAULT = 2;
const TOKEN_SECONDS = 3_599;
const ASSERTION_SECONDS_MAX = 3_600;
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

function generate(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const submission = beginSubmission(request, promptOf(fields));
  const order = checkVeoOrder(request, request.parameters['model'] ?? '', fields, VERTEX_PARAMETERS);
  const job = createJob(submission, {
    id: randomUUID(),
    secondsByDefault: SECONDS_BY_DEFAULT,
    ordered: { ...order },
    consumption: {},
  });
  return confirmSubmission(submission, json(200, { name: nameOf(request, job) }), json(200, {}));
}

function poll(request: SandboxRequest): Answer {
  requireBearerKey(request);
  const { operationName: name } = readJsonObject(request);
  if (typeof name !== 'string' || !name.startsWith(`${resourceOf(request)}/operations/`))
    return request.errorFormat.refuse(400, { field: 'operationName', message: 'Invalid operation name.' });
  const job = requireJob(request, name.slice(name.lastIndexOf('/') + 1));
  return operationAnswer(request, job, name, (samples, filtered) => {
    const result = nextDirectives(request, job, 'result').choose('result');
    const bytesBase64Encoded = inlineResult(result, videoOf(job));
    const videos = Array.from({ length: samples }, () => ({ mimeType: 'video/mp4', bytesBase64Encoded }));
    const type = 'type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse';
    const response = {
      '@type': type,
      raiMediaFilteredCount: 0,
      ...(samples > 0 ? { videos } : {}),
      ...filtered,
    };
    return sendInline(result, json(200, { name, done: true, response }), bytesBase64Encoded);
  });
}

function resourceOf({ parameters }: SandboxRequest): string {
  const { project, location, model } = parameters;
  return `projects/${project}/locations/${location}/publishers/google/models/${model}`;
}

function nameOf(request: SandboxRequest, job: Job): string {
  return `${resourceOf(request)}/operations/${job.id}`;
}

/** Google's token endpoint; accepts every service account whose assertion is well-formed and valid now. */
function exchangeToken(request: SandboxRequest): Answer {
  const form = new URLSearchParams(request.body.toString('utf8'));
  if (form.get('grant_type') !== GRANT_TYPE)
    return refuseToken('unsupported_grant_type', 'Invalid grant_type');
  const [header, claims] = (form.get('assertion') ?? '').split('.').map(readPart);
  const { iss, scope, aud, iat, exp } = claims ?? {};
  const isComplete =
    typeof iss === 'string' && iss.includes('@') && typeof scope === 'string' && scope !== '';
  if (header?.['alg'] !== 'RS256' || !isComplete || iss.includes('invalid'))
    return refuseToken('invalid_grant', 'Invalid JWT Signature.');
  if (aud !== `${request.origin}/google/token`) return refuseToken('invalid_grant', 'Invalid JWT audience.');
  const now = Date.now() / 1000;
  const isFresh =
    Number(iat) <= now + 60 && Number(exp) > now && Number(exp) - Number(iat) <= ASSERTION_SECONDS_MAX;
  if (!isFresh) return refuseToken('invalid_grant', 'Token must be a short-lived token.');
  return json(200, {
    access_token: `ya29.${randomUUID()}`,
    expires_in: TOKEN_SECONDS,
    token_type: 'Bearer',
  });
}

function refuseToken(error: string, description: string): Answer {
  return json(400, { error, error_description: description });
}

function readPart(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isFields(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

// Veo (Google) on the Gemini API: a long-running operation, then a file that needs the key and redirects.

import { randomUUID } from 'node:crypto';
import { type Answer, json, redirect } from '../answers.ts';
import type { Job } from '../jobs.ts';
import { requireJob } from '../polling.ts';
import { readJsonObject } from '../requests.ts';
import { linkJobResult, serveResult } from '../results.ts';
import { beginSubmission, confirmSubmission, createJob } from '../submissions.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { requireGoogleKey } from './api-key.ts';
import { googleErrorFormat } from './error-format.ts';
import { videoOf, operationAnswer } from './veo-operation.ts';
import { checkVeoOrder, GEMINI_PARAMETERS, promptOf } from './veo-order.ts';

export const veo: VendorApi = {
  vendor: 'veo',
  prefix: '/google',
  errorFormat: googleErrorFormat,
  routes: [
    {
      method: 'POST',
      path: '/v1beta/models/{model}:predictLongRunning',
      operation: 'submit',
      handle: generate,
    },
    { method: 'GET', path: '/v1beta/models/{model}/operations/{id}', operation: 'poll', handle: poll },
    { method: 'GET', path: '/v1beta/files/{id}:download', operation: 'download', handle: download },
    { method: 'GET', path: '/download/{id}.mp4', operation: 'download', handle: sendFile },
  ],
};

const SECONDS_BY_DEFAULT = 2;

function generate(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const submission = beginSubmission(request, promptOf(fields), requireGoogleKey);
  const order = checkVeoOrder(request, request.parameters['model'] ?? '', fields, GEMINI_PARAMETERS);
  const job = createJob(submission, {
    id: randomUUID().replaceAll('-', '').slice(0, 16),
    secondsByDefault: SECONDS_BY_DEFAULT,
    ordered: { ...order },
    consumption: {},
  });
  return confirmSubmission(submission, json(200, { name: nameOf(job) }), json(200, {}));
}

function poll(request: SandboxRequest): Answer {
  requireGoogleKey(request);
  const job = requireJob(request, request.parameters['id'] ?? '');
  return operationAnswer(request, job, nameOf(job), (samples, filtered) => {
    const generatedSamples = Array.from({ length: samples }, () => ({ video: linkOf(request, job) }));
    const generateVideoResponse = { ...(samples > 0 ? { generatedSamples } : {}), ...filtered };
    const type = 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse';
    return json(200, { name: nameOf(job), done: true, response: { '@type': type, generateVideoResponse } });
  });
}

function nameOf(job: Job): string {
  return `models/${String(job.ordered['model'])}/operations/${job.id}`;
}

function linkOf(request: SandboxRequest, job: Job): { uri?: string } {
  const uri = linkJobResult(request, job, `/google/v1beta/files/${job.id}:download?alt=media`);
  return uri === undefined ? {} : { uri };
}

/** Redirects to the bytes, which are served without a key. */
function download(request: SandboxRequest): Answer {
  requireGoogleKey(request);
  const job = requireJob(request, request.parameters['id'] ?? '');
  if (request.query.get('alt') !== 'media') return request.errorFormat.refuse(400, { field: 'alt' });
  return redirect(`${request.origin}/google/download/${job.id}.mp4`);
}

function sendFile(request: SandboxRequest): Answer {
  const job = requireJob(request, request.parameters['id'] ?? '');
  return serveResult(request, job, videoOf(job));
}

/** Veo (Google) on the Gemini API: a long-running operation, then a file behind the key that redirects to its bytes. */

import { randomUUID } from 'node:crypto';
import { type Answer, EarlyAnswer, json, redirect } from '../answers.ts';
import type { SandboxRequest, Dialect } from '../dialect.ts';
import { beginSubmission, confirmSubmission, createJob, nextOrders, requireJob } from '../faults.ts';
import type { Job } from '../jobs.ts';
import { readJsonObject } from '../requests.ts';
import { linkResult, serveResult } from '../results.ts';
import { geminiVoice, WRONG_KEY } from './gemini-error-format.ts';
import { fileOf, tellOperation } from './veo-operation.ts';
import { checkVeoOrder, GEMINI_PARAMETERS, promptOf } from './veo-order.ts';

export const veo: Dialect = {
  vendor: 'veo',
  prefix: '/google',
  voice: geminiVoice,
  routes: [
    {
      method: 'POST',
      path: '/v1beta/models/{model}:predictLongRunning',
      operation: 'submit',
      play: generate,
    },
    { method: 'GET', path: '/v1beta/models/{model}/operations/{id}', operation: 'poll', play: poll },
    { method: 'GET', path: '/v1beta/files/{id}:download', operation: 'download', play: download },
    { method: 'GET', path: '/download/{id}.mp4', operation: 'download', play: sendFile },
  ],
};

const SECONDS = 2;

function generate(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const prompt = promptOf(fields);
  request.entry.prompt = prompt;
  requireGoogleKey(request);
  const submission = beginSubmission(request, prompt);
  const order = checkVeoOrder(request, request.parameters['model'] ?? '', fields, GEMINI_PARAMETERS);
  const job = createJob(submission, {
    id: randomUUID().replaceAll('-', '').slice(0, 16),
    secondsByDefault: SECONDS,
    ordered: { ...order },
    consumption: {},
  });
  return confirmSubmission(submission, json(200, { name: nameOf(job) }), json(200, {}));
}

function poll(request: SandboxRequest): Answer {
  requireGoogleKey(request);
  const job = requireJob(request, request.parameters['id'] ?? '');
  return tellOperation(request, job, nameOf(job), (samples, filtered) => {
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
  const result = nextOrders(request, job, 'result').choose('result');
  const uri = linkResult(request, result, `/google/v1beta/files/${job.id}:download?alt=media`);
  return uri === undefined ? {} : { uri };
}

/** The bytes are somewhere else, where nobody asks for a key. */
function download(request: SandboxRequest): Answer {
  requireGoogleKey(request);
  const job = requireJob(request, request.parameters['id'] ?? '');
  if (request.query.get('alt') !== 'media') return request.voice.refuse(400, { field: 'alt' });
  return redirect(`${request.origin}/google/download/${job.id}.mp4`);
}

function sendFile(request: SandboxRequest): Answer {
  const job = requireJob(request, request.parameters['id'] ?? '');
  return serveResult(request, job, fileOf(job));
}

/** Google knows the key as a header or as `?key=`; a wrong one is an invalid argument to it. */
function requireGoogleKey(request: SandboxRequest): void {
  const header = request.req.headers['x-goog-api-key'];
  const key = (typeof header === 'string' ? header : '') || request.query.get('key');
  if (!key) {
    const message = "Method doesn't allow unregistered callers. Please use API Key to call this API.";
    throw new EarlyAnswer(request.voice.refuse(403, { message }));
  }
  if (key.includes('invalid')) throw new EarlyAnswer(request.voice.refuse(400, { code: WRONG_KEY }));
}

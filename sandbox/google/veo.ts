/** Veo (Google) on the Gemini API: a long-running operation, then a file behind the key that redirects to its bytes. */

import { randomUUID } from 'node:crypto';
import { type Answer, EarlyAnswer, json, redirect } from '../answers.ts';
import type { Call, Dialect } from '../dialect.ts';
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

function generate(call: Call): Answer {
  const fields = readJsonObject(call);
  const prompt = promptOf(fields);
  call.entry.prompt = prompt;
  requireGoogleKey(call);
  const submission = beginSubmission(call, prompt);
  const order = checkVeoOrder(call, call.parameters['model'] ?? '', fields, GEMINI_PARAMETERS);
  const job = createJob(submission, {
    id: randomUUID().replaceAll('-', '').slice(0, 16),
    secondsByDefault: SECONDS,
    ordered: { ...order },
    consumption: {},
  });
  return confirmSubmission(submission, json(200, { name: nameOf(job) }), json(200, {}));
}

function poll(call: Call): Answer {
  requireGoogleKey(call);
  const job = requireJob(call, call.parameters['id'] ?? '');
  return tellOperation(call, job, nameOf(job), (samples, filtered) => {
    const generatedSamples = Array.from({ length: samples }, () => ({ video: linkOf(call, job) }));
    const generateVideoResponse = { ...(samples > 0 ? { generatedSamples } : {}), ...filtered };
    const type = 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse';
    return json(200, { name: nameOf(job), done: true, response: { '@type': type, generateVideoResponse } });
  });
}

function nameOf(job: Job): string {
  return `models/${String(job.ordered['model'])}/operations/${job.id}`;
}

function linkOf(call: Call, job: Job): { uri?: string } {
  const result = nextOrders(call, job, 'result').choose('result');
  const uri = linkResult(call, result, `/google/v1beta/files/${job.id}:download?alt=media`);
  return uri === undefined ? {} : { uri };
}

/** The bytes are somewhere else, where nobody asks for a key. */
function download(call: Call): Answer {
  requireGoogleKey(call);
  const job = requireJob(call, call.parameters['id'] ?? '');
  if (call.query.get('alt') !== 'media') return call.voice.refuse(400, { field: 'alt' });
  return redirect(`${call.origin}/google/download/${job.id}.mp4`);
}

function sendFile(call: Call): Answer {
  const job = requireJob(call, call.parameters['id'] ?? '');
  return serveResult(call, job, fileOf(job));
}

/** Google knows the key as a header or as `?key=`; a wrong one is an invalid argument to it. */
function requireGoogleKey(call: Call): void {
  const header = call.req.headers['x-goog-api-key'];
  const key = (typeof header === 'string' ? header : '') || call.query.get('key');
  if (!key) {
    const message = "Method doesn't allow unregistered callers. Please use API Key to call this API.";
    throw new EarlyAnswer(call.voice.refuse(403, { message }));
  }
  if (key.includes('invalid')) throw new EarlyAnswer(call.voice.refuse(400, { code: WRONG_KEY }));
}

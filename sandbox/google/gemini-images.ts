// Gemini images (Google): generateContent answers synchronously, with thoughts and then the image inline.

import { randomUUID } from 'node:crypto';
import { type Answer, type Content, json } from '../answers.ts';
import type { Choice } from '../directives.ts';
import { errorText } from '../error-text.ts';
import { reportUsage } from '../evidence.ts';
import type { Job } from '../jobs.ts';
import { nextDirectives } from '../polling.ts';
import { countCodePoints, readJsonObject } from '../requests.ts';
import { imageFile, inlineResult, sendInline } from '../results.ts';
import { beginSubmission, confirmSubmission, createJob, waitUntilFinal } from '../submissions.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { requireGoogleKey } from './api-key.ts';
import { googleErrorFormat, SPENDING_CAP } from './error-format.ts';
import {
  checkImageOrder,
  readImageRequest,
  thinks,
  type ImageOrder,
  type ImageRequest,
} from './gemini-images-order.ts';

export const geminiImages: VendorApi = {
  vendor: 'gemini',
  prefix: '/google',
  errorFormat: googleErrorFormat,
  routes: [
    { method: 'POST', path: '/v1beta/models/{model}:generateContent', operation: 'submit', handle: generate },
    // Where Google's own client asks since its third major version.
    { method: 'POST', path: '/v1/models/{model}:generateContent', operation: 'submit', handle: generate },
  ],
};

const SECONDS_BY_DEFAULT = 1;
const EDGES: Readonly<Record<string, number>> = { '1K': 1024, '2K': 2048, '4K': 4096 };
const OUTPUT_TOKENS: Readonly<Record<string, number>> = { '1K': 1120, '2K': 1680, '4K': 2520 };
const INPUT_IMAGE_TOKENS = 258;
const THOUGHT_TOKENS = 200;
/** Gives a draft a colour that no result has. */
const DRAFT_INDEX = 99;
const CHARACTERS_PER_TOKEN = 4;

interface InlinePart {
  inlineData?: { mimeType: string; data: string };
  thoughtSignature?: string;
}

async function generate(request: SandboxRequest): Promise<Answer> {
  const input = readImageRequest(readJsonObject(request));
  const submission = beginSubmission(request, input.prompt, requireGoogleKey);
  const order = checkImageOrder(request, request.parameters['model'] ?? '', input);
  const job = createJob(submission, {
    id: randomUUID().replaceAll('-', ''),
    secondsByDefault: SECONDS_BY_DEFAULT,
    ordered: { ...order },
    consumption: consumptionOf(order, input),
  });
  if (!(await waitUntilFinal(request, job))) return { kind: 'hang' };
  const answer = job.outcome === 'succeed' ? succeed(request, job, order) : fail(request, job, order);
  return confirmSubmission(submission, answer, json(200, { modelVersion: order.model }));
}

function succeed(request: SandboxRequest, job: Job, order: ImageOrder): Answer {
  const result = nextDirectives(request, job, 'result').choose('result');
  const count = job.deliver ?? 1;
  const pictures = Array.from({ length: count }, (_, index) => inlinePart(job, order, result, index));
  const text = order.withText ? [{ text: 'Here is your picture.' }] : [];
  const parts = [...thoughts(job, order), ...text, ...pictures];
  const candidate = {
    ...(count === 0 ? {} : { content: { parts, role: 'model' } }),
    finishReason: count === 0 ? 'NO_IMAGE' : 'STOP',
    index: 0,
  };
  const body = { ...envelope(job, order), candidates: [candidate] };
  return sendInline(result, json(200, body), pictures[0]?.inlineData?.data);
}

/** Thoughts include a draft, which looks like a result but is none. */
function thoughts(job: Job, order: ImageOrder): object[] {
  if (!thinks(order.model)) return [];
  const draft = imageOf(job, order, DRAFT_INDEX).bytes.toString('base64');
  return [
    { text: 'First a draft.', thought: true },
    { inlineData: { mimeType: 'image/png', data: draft }, thought: true },
  ];
}

function inlinePart(job: Job, order: ImageOrder, result: Choice<'result'>, index: number): InlinePart {
  const data = inlineResult(result, imageOf(job, order, index));
  if (data === undefined) return {};
  return { inlineData: { mimeType: 'image/png', data }, thoughtSignature: 'c2FuZGJveA==' };
}

function fail(request: SandboxRequest, job: Job, order: ImageOrder): Answer {
  const { outcome, reason, text } = job;
  if (outcome === 'moderated') {
    const finishMessage = errorText('Unable to show the generated image.', text);
    const candidates = [{ finishReason: 'IMAGE_SAFETY', finishMessage, index: 0 }];
    return json(200, { ...envelope(job, order), candidates });
  }
  if (outcome === 'expire') return request.errorFormat.refuse(504, { text });
  if (outcome === 'cancelled') return request.errorFormat.refuse(499, { text });
  switch (reason) {
    case 'moderation':
      return json(200, { ...envelope(job, order), promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } });
    case 'invalid':
      return request.errorFormat.refuse(400, {
        text,
        field: 'contents',
        message: 'Unable to process input image.',
      });
    case 'quota':
      return request.errorFormat.refuse(429, { text, code: SPENDING_CAP });
    case 'concurrency':
      return request.errorFormat.refuse(429, { text });
    case 'internal':
      return request.errorFormat.refuse(500, { text });
  }
}

function envelope(job: Job, { model }: ImageOrder): object {
  return {
    usageMetadata: reportUsage(job.consumption, job.usage),
    modelVersion: model,
    responseId: job.id,
  };
}

function imageOf(job: Job, { aspectRatio, imageSize }: ImageOrder, index: number): Content {
  const [across = 1, down = 1] = aspectRatio.split(':').map(Number);
  const scale = (EDGES[imageSize] ?? 0) / Math.sqrt(across * down);
  const [width, height] = [Math.round(across * scale), Math.round(down * scale)];
  return imageFile(job, index, { width, height, format: 'png', transparent: false });
}

function consumptionOf(
  { model, imageSize, inputImages }: ImageOrder,
  { prompt }: ImageRequest,
): Record<string, number> {
  const promptTokens =
    Math.ceil(countCodePoints(prompt) / CHARACTERS_PER_TOKEN) + inputImages * INPUT_IMAGE_TOKENS;
  const outputTokens = OUTPUT_TOKENS[imageSize] ?? 0;
  const thoughtTokens = thinks(model) ? THOUGHT_TOKENS : 0;
  return {
    promptTokenCount: promptTokens,
    candidatesTokenCount: outputTokens,
    thoughtsTokenCount: thoughtTokens,
    totalTokenCount: promptTokens + outputTokens + thoughtTokens,
  };
}

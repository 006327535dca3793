// OpenAI's Images API: synchronous, the images inline as base64.

import { randomUUID } from 'node:crypto';
import { type Answer, type Content, json } from '../answers.ts';
import type { Choice } from '../directives.ts';
import { type Consumption, reportUsage } from '../evidence.ts';
import type { Job } from '../jobs.ts';
import { nextDirectives, requireJob } from '../polling.ts';
import { imageFile, inlineResult, linkResult, sendInline, serveResult } from '../results.ts';
import { beginSubmission, confirmSubmission, createJob, waitUntilFinal } from '../submissions.ts';
import { countCodePoints } from '../requests.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { openaiErrorFormat } from './error-format.ts';
import {
  checkEdit,
  checkGeneration,
  type ImageOrder,
  type ImageRequest,
  readImageRequest,
} from './images-order.ts';

export const openaiImages: VendorApi = {
  vendor: 'openai',
  prefix: '/openai',
  errorFormat: openaiErrorFormat,
  routes: [
    {
      method: 'POST',
      path: '/v1/images/generations',
      operation: 'submit',
      handle: (request) => generate(request, checkGeneration),
    },
    {
      method: 'POST',
      path: '/v1/images/edits',
      operation: 'submit',
      handle: (request) => generate(request, checkEdit),
    },
    { method: 'GET', path: '/files/{id}/{index}', operation: 'download', handle: download },
  ],
};

const SECONDS_BY_DEFAULT = 1;

/** Output tokens of an image of 1024x1024 by quality; other sizes in proportion to their pixels. */
const OUTPUT_TOKENS: Readonly<Record<string, number>> = {
  low: 272,
  medium: 1056,
  high: 4160,
  xhigh: 6240,
  max: 8320,
};
const REFERENCE_PIXELS = 1024 * 1024;
const INPUT_IMAGE_TOKENS = 323;
const CHARACTERS_PER_TOKEN = 4;

interface Item {
  b64_json?: string;
  url?: string;
}

async function generate(
  request: SandboxRequest,
  check: (request: SandboxRequest, input: ImageRequest) => ImageOrder,
): Promise<Answer> {
  const input = await readImageRequest(request);
  const submission = beginSubmission(request, input.prompt);
  const order = check(request, input);
  const job = createJob(submission, {
    id: `img_${randomUUID().replaceAll('-', '')}`,
    secondsByDefault: SECONDS_BY_DEFAULT,
    ordered: { ...order },
    consumption: consumptionOf(order, input.prompt, submission.active.number('deliver') ?? order.count),
  });
  if (!(await waitUntilFinal(request, job))) return { kind: 'hang' };
  const created = Math.floor(job.createdAtMs / 1000);
  const answer = job.outcome === 'succeed' ? succeed(request, job, order, created) : fail(request, job);
  return confirmSubmission(submission, answer, json(200, { created }));
}

function succeed(request: SandboxRequest, job: Job, order: ImageOrder, created: number): Answer {
  const result = nextDirectives(request, job, 'result').choose('result');
  const data = Array.from({ length: job.deliver ?? order.count }, (_, index) =>
    item(request, job, result, index, imageOf(job, order, index)),
  );
  const body = {
    created,
    background: order.background,
    data,
    output_format: order.format,
    quality: order.quality,
    size: `${order.width}x${order.height}`,
    usage: reportUsage(job.consumption, job.usage),
  };
  return sendInline(result, json(200, body), data[0]?.b64_json);
}

/** OpenAI never links an image here; a link is given only to catch a client that follows it. */
function item(
  request: SandboxRequest,
  job: Job,
  result: Choice<'result'>,
  index: number,
  picture: Content,
): Item {
  const inline = inlineResult(result, picture);
  if (inline !== undefined) return { b64_json: inline };
  if (result !== 'private' && result !== 'redirect_private') return {};
  const url = linkResult(request, result, `${openaiImages.prefix}/files/${job.id}/${index}`);
  return url === undefined ? {} : { url };
}

function fail(request: SandboxRequest, job: Job): Answer {
  const { outcome, reason, text } = job;
  if (outcome === 'moderated' || (outcome === 'fail' && reason === 'moderation')) {
    return request.errorFormat.refuse(400, { code: 'moderation_blocked', text });
  }
  if (outcome !== 'fail' || reason === 'internal') return request.errorFormat.refuse(500, { text });
  if (reason === 'invalid')
    return request.errorFormat.refuse(400, { text, code: 'invalid_value', field: 'prompt' });
  return request.errorFormat.refuse(
    429,
    reason === 'quota' ? { text, code: 'insufficient_quota' } : { text },
  );
}

function download(request: SandboxRequest): Answer {
  const job = requireJob(request, request.parameters['id'] ?? '');
  const index = Number(request.parameters['index']);
  if (!Number.isInteger(index)) return request.errorFormat.refuse(404);
  const [width, height] = [Number(job.ordered['width']), Number(job.ordered['height'])];
  const image = { width, height, format: 'png', transparent: false } as const;
  return serveResult(request, job, imageFile(job, index, image));
}

function imageOf(job: Job, order: ImageOrder, index: number): Content {
  const { width, height, format, background } = order;
  return imageFile(job, index, { width, height, format, transparent: background === 'transparent' });
}

function consumptionOf(order: ImageOrder, prompt: string, count: number): Consumption {
  const textTokens = Math.ceil(countCodePoints(prompt) / CHARACTERS_PER_TOKEN);
  const imageTokens = order.inputImages * INPUT_IMAGE_TOKENS;
  const pixels = order.width * order.height;
  const perImage = Math.round(((OUTPUT_TOKENS[order.quality] ?? 0) * pixels) / REFERENCE_PIXELS);
  const outputTokens = perImage * count;
  return {
    total_tokens: textTokens + imageTokens + outputTokens,
    input_tokens: textTokens + imageTokens,
    output_tokens: outputTokens,
    input_tokens_details: { text_tokens: textTokens, image_tokens: imageTokens },
    output_tokens_details: { text_tokens: 0, image_tokens: outputTokens },
  };
}

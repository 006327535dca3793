// Result files and how they are handed out: good ones, and bad ones where the directive `result` says so.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Answer, type Content, firstHalf, htmlPage, redirect, whole } from './answers.ts';
import type { Choice } from './directives.ts';
import type { Job } from './jobs.ts';
import { encodePng } from './png.ts';
import { nextDirectives, requireJob } from './polling.ts';
import type { SandboxRequest } from './vendor-api.ts';

export type ImageFormat = 'png' | 'jpeg' | 'webp';

const IMAGE_EDGE_MAX = 256;
const PRIVATE_ORIGIN = 'http://10.255.255.1';
const METADATA_URL = 'http://169.254.169.254/latest/meta-data/';
const SCRIPT = 'alert(document.domain);\n';

const SHAPES = [
  { name: '16x9', ratio: 16 / 9 },
  { name: '1x1', ratio: 1 },
  { name: '9x16', ratio: 9 / 16 },
] as const;

/** Files of `assets/` by name, each read once. */
const assets = new Map<string, Buffer>();

/** An MP4 of one second in the nearest of three shapes: landscape, square, portrait. */
export function videoFile(width: number, height: number): Content {
  return whole(200, 'video/mp4', asset(`video-${shapeOf(width, height)}.mp4`));
}

/** A PNG has the exact proportions, other formats the nearest shape. PNGs of one job differ by index. */
export function imageFile(
  job: Job,
  index: number,
  image: { width: number; height: number; format: ImageFormat; transparent: boolean },
): Content {
  const { width, height, format, transparent } = image;
  if (format !== 'png') {
    const extension = format === 'jpeg' ? 'jpg' : 'webp';
    return whole(200, `image/${format}`, asset(`image-${shapeOf(width, height)}.${extension}`));
  }
  const scale = Math.min(1, IMAGE_EDGE_MAX / Math.max(width, height));
  const hue = (createHash('sha256').update(job.id).digest().readUInt16BE(0) + index * 47) % 360;
  const picture = { width: Math.round(width * scale), height: Math.round(height * scale), hue, transparent };
  return whole(200, 'image/png', encodePng(picture));
}

/** Link that an answer gives for a result; undefined, which JSON omits, with `result=missing`. */
export function linkResult(
  request: SandboxRequest,
  result: Choice<'result'>,
  path: string,
): string | undefined {
  if (result === 'missing') return undefined;
  return `${result === 'private' ? PRIVATE_ORIGIN : request.origin}${path}`;
}

/** Link for the job's result, with the directive in force for one more answer that hands it out. */
export function linkJobResult(request: SandboxRequest, job: Job, path: string): string | undefined {
  return linkResult(request, nextDirectives(request, job, 'result').choose('result'), path);
}

/** Answers a request for a result's file. */
export function serveResult(request: SandboxRequest, job: Job, file: Content): Answer {
  switch (nextDirectives(request, job, 'download').choose('result')) {
    case '404':
      return request.errorFormat.refuse(404, { text: job.text });
    case 'html':
      return htmlPage();
    case 'javascript':
      return whole(200, 'text/javascript', SCRIPT);
    case 'redirect_private':
      return redirect(METADATA_URL);
    case 'slow':
      return { kind: 'trickle', ...contentOf(file) };
    case 'endless':
      return { kind: 'endless', ...contentOf(file), filler: '\0' };
    case 'truncated':
      return { kind: 'cut', ...contentOf(file) };
    default:
      return { kind: 'whole', ...contentOf(file) };
  }
}

/**
 * Answers a request for the video of the job with the id in the path.
 * `ratioField` names the field of `job.ordered` that holds a ratio such as `16:9`; empty stands for 16:9.
 */
export function serveVideo(request: SandboxRequest, ratioField = 'ratio'): Answer {
  const job = requireJob(request, request.parameters['id'] ?? '');
  const ratio = String(job.ordered[ratioField]) || '16:9';
  const [width = 16, height = 9] = ratio.split(':').map(Number);
  return serveResult(request, job, videoFile(width, height));
}

/** The file that an answer carries inline, as base64; undefined, which JSON omits, where it carries none. */
export function inlineResult(result: Choice<'result'>, file: Content): string | undefined {
  switch (result) {
    case '404':
    case 'missing':
    case 'private':
    case 'redirect_private':
      return undefined;
    case 'html':
      return htmlPage().bytes.toString('base64');
    case 'javascript':
      return Buffer.from(SCRIPT).toString('base64');
    case 'truncated':
      return firstHalf(file.bytes).toString('base64');
    default:
      return file.bytes.toString('base64');
  }
}

/** Makes an answer with inline results slow or endless where the directive says so. */
export function sendInline(
  result: Choice<'result'>,
  answer: Content,
  firstInline: string | undefined,
): Answer {
  if (result === 'slow') return { kind: 'trickle', ...contentOf(answer) };
  if (result === 'endless' && firstInline !== undefined) {
    const end = answer.bytes.indexOf(firstInline) + firstInline.length;
    const opening = { ...contentOf(answer), bytes: answer.bytes.subarray(0, end) };
    return { kind: 'endless', ...opening, filler: 'A' };
  }
  return { kind: 'whole', ...contentOf(answer) };
}

function contentOf({ status, headers, bytes }: Content): Content {
  return { status, headers, bytes };
}

function shapeOf(width: number, height: number): string {
  const ratio = Math.log(width / height);
  const distances = SHAPES.map((shape) => Math.abs(Math.log(shape.ratio) - ratio));
  return SHAPES[distances.indexOf(Math.min(...distances))]?.name ?? '1x1';
}

function asset(name: string): Buffer {
  const known = assets.get(name);
  if (known !== undefined) return known;
  const bytes = readFileSync(new URL(`assets/${name}`, import.meta.url));
  assets.set(name, bytes);
  return bytes;
}

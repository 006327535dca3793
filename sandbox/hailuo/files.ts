/** MiniMax's finished videos: links that are good for an hour, made anew with every question. */

import type { Answer } from '../answers.ts';
import type { SandboxRequest } from '../dialect.ts';
import { nextOrders, requireJob } from '../faults.ts';
import type { Job } from '../jobs.ts';
import { linkResult, serveResult, videoFile } from '../results.ts';

const LINK_SECONDS = 3_600;

/** Undefined where this answer shall not say where the video is. */
export function linkVideo(request: SandboxRequest, job: Job): string | undefined {
  const result = nextOrders(request, job, 'result').choose('result');
  const expires = Math.floor(Date.now() / 1000) + LINK_SECONDS;
  return linkResult(request, result, `/minimax/files/${job.id}.mp4?Expires=${expires}`);
}

export function download(request: SandboxRequest): Answer {
  const job = requireJob(request, request.parameters['id'] ?? '');
  if (Number(request.query.get('Expires')) < Date.now() / 1000) return request.voice.refuse(404);
  const [width = 16, height = 9] = String(job.ordered['ratio']).split(':').map(Number);
  return serveResult(request, job, videoFile(width, height));
}

// MiniMax's finished videos: every poll gives a new link, which is valid for an hour.

import type { Answer } from '../answers.ts';
import type { Job } from '../jobs.ts';
import { requireJob } from '../polling.ts';
import { linkJobResult, serveVideo } from '../results.ts';
import type { SandboxRequest } from '../vendor-api.ts';

const LINK_VALID_SECONDS = 3_600;

/** Undefined, which JSON omits, where a directive withholds the link. */
export function linkVideo(request: SandboxRequest, job: Job): string | undefined {
  const expires = Math.floor(Date.now() / 1000) + LINK_VALID_SECONDS;
  return linkJobResult(request, job, `/minimax/files/${job.id}.mp4?Expires=${expires}`);
}

export function download(request: SandboxRequest): Answer {
  const isExpired = Number(request.query.get('Expires')) < Date.now() / 1000;
  if (!isExpired) return serveVideo(request);
  requireJob(request, request.parameters['id'] ?? '');
  return request.errorFormat.refuse(404);
}

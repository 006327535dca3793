/** What both of Google's services tell about a Veo operation: no progress, a result, an error, or nothing left of it. */

import { type Answer, json } from '../answers.ts';
import type { SandboxRequest } from '../dialect.ts';
import { lookAtJob } from '../faults.ts';
import type { Job } from '../jobs.ts';
import { wordError } from '../leaky.ts';
import { videoFile } from '../results.ts';

export interface Filtered {
  readonly raiMediaFilteredCount?: number;
  readonly raiMediaFilteredReasons?: readonly string[];
}

const FILTERED =
  "Veo could not generate videos because they might violate Google's Responsible AI practices.";

/** google.rpc.Code and message of each reason. */
const FAILURES = {
  internal: { code: 13, message: 'Video generation failed due to an internal server issue.' },
  invalid: { code: 3, message: 'The input image could not be decoded.' },
  quota: { code: 8, message: 'Your project has exceeded its spending cap.' },
  concurrency: {
    code: 8,
    message: 'The service is currently experiencing high load. Please try again later.',
  },
  moderation: {
    code: 3,
    message: "The prompt contains sensitive words that violate Google's Responsible AI practices.",
  },
} as const;
const CANCELLED = { code: 1, message: 'The operation was cancelled.' };

/** `tellDone` writes the answer of an operation that is done, with so many samples. */
export function tellOperation(
  request: SandboxRequest,
  job: Job,
  name: string,
  tellDone: (samples: number, filtered: Filtered) => Answer,
): Answer {
  const { state, weird } = lookAtJob(request, job);
  if (weird) return json(200, { name, metadata: { state: 'SIMMERING' } });
  switch (state.phase) {
    case 'queued':
      return json(200, { name });
    case 'running':
      return json(200, { name, done: false });
    case 'succeeded':
      return tellDone(job.deliver ?? 1, {});
    case 'moderated':
      return tellDone(0, {
        raiMediaFilteredCount: 1,
        raiMediaFilteredReasons: [wordError(FILTERED, job.text)],
      });
    case 'expired':
      return request.voice.refuse(404, {
        message: 'Operation is not found, or has expired.',
        text: job.text,
      });
    case 'failed':
    case 'cancelled': {
      const { code, message } = state.phase === 'cancelled' ? CANCELLED : FAILURES[job.reason];
      return json(200, { name, done: true, error: { code, message: wordError(message, job.text) } });
    }
  }
}

export function fileOf(job: Job): ReturnType<typeof videoFile> {
  return job.ordered['aspectRatio'] === '9:16' ? videoFile(9, 16) : videoFile(16, 9);
}

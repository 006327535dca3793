// A Veo operation as both of Google's services report it: no progress, then a result, an error or a 404.

import { type Answer, json } from '../answers.ts';
import { errorText } from '../error-text.ts';
import type { Job } from '../jobs.ts';
import { pollJob, UNKNOWN_STATUS } from '../polling.ts';
import { videoFile } from '../results.ts';
import type { SandboxRequest } from '../vendor-api.ts';

export interface Filtered {
  readonly raiMediaFilteredCount?: number;
  readonly raiMediaFilteredReasons?: readonly string[];
}

const FILTERED =
  "Veo could not generate videos because they might violate Google's Responsible AI practices.";

/** The google.rpc.Code and message of each reason. */
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

/** `answerDone` makes the answer of an operation that is done, with the given number of samples. */
export function operationAnswer(
  request: SandboxRequest,
  job: Job,
  name: string,
  answerDone: (samples: number, filtered: Filtered) => Answer,
): Answer {
  const { state, hasUnknownStatus } = pollJob(request, job);
  if (hasUnknownStatus) return json(200, { name, metadata: { state: UNKNOWN_STATUS.toUpperCase() } });
  switch (state.phase) {
    case 'queued':
      return json(200, { name });
    case 'running':
      return json(200, { name, done: false });
    case 'succeeded':
      return answerDone(job.deliver ?? 1, {});
    case 'moderated':
      return answerDone(0, {
        raiMediaFilteredCount: 1,
        raiMediaFilteredReasons: [errorText(FILTERED, job.text)],
      });
    case 'expired':
      return request.errorFormat.refuse(404, {
        message: 'Operation is not found, or has expired.',
        text: job.text,
      });
    case 'failed':
    case 'cancelled': {
      const { code, message } = state.phase === 'cancelled' ? CANCELLED : FAILURES[job.reason];
      return json(200, { name, done: true, error: { code, message: errorText(message, job.text) } });
    }
  }
}

export function videoOf(job: Job): ReturnType<typeof videoFile> {
  return job.ordered['aspectRatio'] === '9:16' ? videoFile(9, 16) : videoFile(16, 9);
}

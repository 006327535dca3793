/** The shape of a vendor: its routes, and the voice in which it refuses. One file per vendor API in `dialects/`. */

import type { IncomingMessage } from 'node:http';
import type { Answer } from './answers.ts';
import type { Counts } from './counts.ts';
import type { Choice } from './directives.ts';
import type { Jobs } from './jobs.ts';
import type { JournalEntry, Operation } from './journal.ts';

export interface Complaint {
  /** The voice has its own words for each status where this is absent. */
  readonly message?: string;
  /** The request's field that is at fault. */
  readonly field?: string;
  /** The vendor's own code, where the status alone does not decide it. */
  readonly code?: string;
  readonly text?: Choice<'text'>;
}

export interface Voice {
  /** Knows 400, 401, 402, 403, 404, 405, 413, 429, 500 and 503. */
  refuse(status: number, complaint?: Complaint): Answer;
}

/** One request on its way through a dialect. */
export interface SandboxRequest {
  readonly req: IncomingMessage;
  readonly vendor: string;
  readonly voice: Voice;
  /** The parts of the path that the route names in braces. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  /** Where the client reached the sandbox, for links into itself. */
  readonly origin: string;
  /** Its prompt and job id are filled in as soon as they are known. */
  readonly entry: JournalEntry;
  readonly jobs: Jobs;
  readonly counts: Counts;
  /** Aborts when the client goes or the sandbox closes. */
  readonly closed: AbortSignal;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the dialect's prefix; `{name}` stands for one part of the path. */
  readonly path: string;
  readonly operation: Operation;
  play(request: SandboxRequest): Answer | Promise<Answer>;
}

export interface Dialect {
  readonly vendor: string;
  /** Several dialects of one vendor may share it. */
  readonly prefix: string;
  readonly voice: Voice;
  readonly routes: readonly Route[];
}

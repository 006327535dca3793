// What a vendor's API consists of: its routes, and the format of its errors.

import type { IncomingMessage } from 'node:http';
import type { Answer } from './answers.ts';
import type { Choice } from './directives.ts';
import type { Jobs } from './jobs.ts';
import type { JournalEntry, Operation } from './journal.ts';
import type { RequestCounts } from './request-counts.ts';

/** One API of a vendor. A vendor with two APIs has two of these, which see the same jobs. */
export interface VendorApi {
  readonly vendor: string;
  /** Start of every path; several APIs may share it. */
  readonly prefix: string;
  readonly errorFormat: ErrorFormat;
  readonly routes: readonly Route[];
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path below the prefix; `{name}` stands for one part of it. */
  readonly path: string;
  readonly operation: Operation;
  handle(request: SandboxRequest): Answer | Promise<Answer>;
}

/** A request on its way to its route's handler. */
export interface SandboxRequest {
  readonly req: IncomingMessage;
  readonly vendor: string;
  readonly errorFormat: ErrorFormat;
  /** The parts of the path that the route names in braces. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  /** Scheme, host and port at which the client reached the sandbox, for links to the sandbox itself. */
  readonly origin: string;
  /** Journal entry of this request; the handler fills in prompt and job id as soon as they are known. */
  readonly entry: JournalEntry;
  readonly jobs: Jobs;
  readonly counts: RequestCounts;
  /** Aborts when the client disconnects or the sandbox closes. */
  readonly closed: AbortSignal;
}

/** How a vendor words its error answers. */
export interface ErrorFormat {
  /** Answers an error for 400, 401, 402, 403, 404, 405, 413, 429, 500 or 503. */
  refuse(status: number, details?: ErrorDetails): Answer;
}

export interface ErrorDetails {
  /** Replaces the vendor's usual message for the status. */
  readonly message?: string;
  /** Name of the request's field that is at fault. */
  readonly field?: string;
  /** The vendor's own code, where the status alone does not decide it. */
  readonly code?: string;
  readonly text?: Choice<'text'>;
}

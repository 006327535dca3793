// The interface of every vendor adapter, and the failure that adapters throw.
import type { UpstreamErrorClass } from '../domain/failures.ts';
import type { JobHandle } from '../domain/jobs.ts';
import type { JsonValue } from '../domain/json.ts';
import type { Upstream } from '../domain/catalog/upstream.ts';
import type { Evidence } from '../domain/pricing.ts';
import type { Order } from '../domain/orders/order.ts';
import { storableText } from '../domain/storable-text.ts';

/**
 * The adapter of one vendor. Adapters keep nothing between calls but cached tokens; what has to survive is in
 * the job handle. Methods throw only UpstreamFailures and return everything else that a vendor reports.
 */
export interface Provider {
  /** Name in the registry and in the catalogue's `adapter`. */
  readonly name: string;
  /** The catalogue's family, which also names its settings. */
  readonly family: string;
  /**
   * `immediate`: submit returns the finished work, so the results of an aborted submit are lost.
   * `job`: submit hands the work over and returns a handle that is polled.
   */
  readonly delivery: 'immediate' | 'job';
  /**
   * Ids of the credentials that may take new work of a model, in the order of the settings; one stands for
   * all where the adapter chooses by itself.
   */
  credentialsFor(upstreamModel: string): readonly string[];
  /**
   * Hands the work over. `signal` aborts the call; pass it on for `immediate` delivery only, since an aborted
   * hand-over of a job would leave an orphan at the vendor.
   */
  submit(job: UpstreamJob, signal?: AbortSignal): Promise<Submission>;
  /** State of the work. Adapters with `immediate` delivery have no poll. */
  poll?(handle: JobHandle, signal?: AbortSignal): Promise<JobState>;
  /** Stops the work where the vendor can. Absent: this vendor cannot. */
  cancel?(handle: JobHandle, signal?: AbortSignal): Promise<Cancellation>;
  /**
   * Looks for work whose submission brought no answer. Absent: this vendor's jobs can neither be listed nor
   * given a reference, so such work stays lost.
   */
  lookUp?(job: UpstreamJob, sentAt: Date, signal?: AbortSignal): Promise<LookUp>;
  /** Headers that authenticate the download of a `guarded_url`; sent to a trusted origin only. */
  downloadHeaders?(handle: JobHandle): Promise<Readonly<Record<string, string>>>;
  /**
   * Whether this URL is on a host that the operator configured for this vendor (and so needs no address
   * check).
   */
  trustsOrigin(url: URL): boolean;
}

/** Everything an adapter needs to know about one attempt, in concrete values. */
export interface UpstreamJob {
  /** Unique per task and attempt; sent to vendors that can deduplicate by it. */
  reference: string;
  /** Id of the credential in whose name the work is submitted. */
  credential: string;
  upstreamModel: string;
  order: Order;
  prompt: string;
  /** Messages of a text task in OpenAI's format; empty for other tasks. */
  messages: readonly JsonValue[];
  /** Where a text task can be done, of which the adapter chooses; empty for other tasks. */
  upstreams: readonly Upstream[];
  /** The user whose task it is. */
  userId: string;
  /** https URLs or data URIs, checked for shape but not fetched. */
  inputImages: readonly string[];
  /** https URLs. */
  inputVideos: readonly string[];
  /** What must not be seen; null where nothing was said of it. */
  negativePrompt: string | null;
}

/**
 * `found`: the vendor certainly has the work under this handle; a mistake would show one caller's work to
 * another.
 * `absent`: the vendor certainly does not have it, or refuses a second one of the same reference: it may be
 * submitted again.
 * `unclear`: neither is certain.
 */
export type LookUp = { kind: 'found'; handle: JobHandle } | { kind: 'absent' } | { kind: 'unclear' };

/** `too_late`: the vendor goes on with the work, or has ended it. */
export type Cancellation = 'cancelled' | 'too_late';

export type Submission =
  | { kind: 'accepted'; handle: JobHandle; upstreamRequestId: string | null }
  | { kind: 'finished'; results: UpstreamResult[]; evidence: Evidence; upstreamRequestId: string | null };

export type JobState =
  | { kind: 'queued' }
  /** Progress in percent exactly as the vendor reports it, or null: callers clamp. */
  | { kind: 'running'; progress: number | null }
  | { kind: 'succeeded'; results: UpstreamResult[]; evidence: Evidence }
  /** `evidence` only where the vendor bills what it does not deliver, which the operator pays. */
  | { kind: 'failed'; errorClass: UpstreamErrorClass; text: string | null; evidence?: Evidence }
  | { kind: 'cancelled' }
  | { kind: 'expired' };

/**
 * Where the bytes of a result are: in the answer itself, under a URL, or under one that needs the vendor's
 * key. URLs that expire are renewed by another poll.
 */
export type UpstreamResult =
  | { kind: 'inline'; bytes: Uint8Array }
  | { kind: 'url'; url: string }
  | { kind: 'guarded_url'; url: string }
  /** The result of a text task itself. */
  | { kind: 'text'; text: string };

/**
 * What is certain about a request that failed:
 * `not_received` – the vendor did not take the work (refused connection, 401, 429, 503), so it may be tried
 * again;
 * `refused` – the vendor answered with a refusal that would be repeated;
 * `unknown` – it may have been taken (silence, cut connection, unreadable answer), so it must never be
 * repeated blindly.
 */
export type RequestFate = 'not_received' | 'refused' | 'unknown';

/** A request to a vendor that brought no usable answer. */
export class UpstreamFailure extends Error {
  readonly errorClass: UpstreamErrorClass;
  readonly fate: RequestFate;
  /** The vendor's unmasked text, storable, which must be masked before it is shown or logged. */
  readonly text: string | null;
  /** How long the vendor asks to wait, or null. */
  readonly retryAfterMs: number | null;
  readonly upstreamRequestId: string | null;
  /** HTTP status of the vendor's response, or null when there was none. */
  readonly status: number | null;
  /** Whether the vendor exceeded the longest silence. */
  readonly isSilence: boolean;

  constructor(
    errorClass: UpstreamErrorClass,
    fate: RequestFate,
    options: {
      text?: string | null;
      retryAfterMs?: number | null;
      upstreamRequestId?: string | null;
      status?: number | null;
      isSilence?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(`upstream failure: ${errorClass}, ${fate}`, { cause: options.cause });
    this.name = 'UpstreamFailure';
    this.errorClass = errorClass;
    this.fate = fate;
    this.text = typeof options.text === 'string' ? storableText(options.text) : null;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.upstreamRequestId = options.upstreamRequestId ?? null;
    this.status = options.status ?? null;
    this.isSilence = options.isSilence ?? false;
  }
}

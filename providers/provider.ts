// What every adapter of a vendor looks like to the rest of the gateway.
import type { UpstreamErrorClass } from '../domain/failures.ts';
import type { JobHandle } from '../domain/jobs.ts';
import type { JsonValue } from '../domain/json.ts';
import type { Evidence } from '../domain/pricing.ts';
import type { Order } from '../domain/orders/order.ts';

/**
 * One vendor behind one interface. Adapters hold no state between calls; what has to survive is in the job handle.
 * A method throws only an UpstreamFailure; everything else a vendor says is a value.
 */
export interface Provider {
  /** Name in the registry and in the catalogue's `adapter`. */
  readonly name: string;
  /** The catalogue's family, which also names its settings. */
  readonly family: string;
  /**
   * `immediate`: submit answers with the finished work, so an aborted submit means that nobody gets it.
   * `job`: submit hands the work over and answers with a handle that is polled.
   */
  readonly delivery: 'immediate' | 'job';
  /** Ids of the credentials that may take new work, in the order of the settings. */
  readonly credentials: readonly string[];
  /**
   * Hands the work over. `signal` aborts the call; pass it on for `immediate` delivery only, since an aborted
   * hand-over of a job would leave an orphan at the vendor.
   */
  submit(job: UpstreamJob, signal?: AbortSignal): Promise<Submission>;
  /** How the work is going. Adapters with `immediate` delivery have no poll. */
  poll?(handle: JobHandle, signal?: AbortSignal): Promise<JobState>;
  /** Stops the work where the vendor can. Absent: this vendor cannot. */
  cancel?(handle: JobHandle, signal?: AbortSignal): Promise<Cancellation>;
  /**
   * Looks for work whose hand-over brought no answer. Absent: this vendor's jobs can neither be listed nor named by
   * us, and what was handed over is lost to us.
   */
  lookUp?(job: UpstreamJob, sentAt: Date, signal?: AbortSignal): Promise<LookUp>;
  /** Headers that prove to the vendor who fetches a `guarded_url`. They are sent to a trusted origin only. */
  downloadHeaders?(handle: JobHandle): Promise<Readonly<Record<string, string>>>;
  /** Whether this URL is on a host that the operator configured for this vendor (and so needs no address check). */
  trustsOrigin(url: URL): boolean;
}

/** Everything an adapter needs to know about one attempt, in concrete values. */
export interface UpstreamJob {
  /** Unique per task and attempt; sent to vendors that can deduplicate by it. */
  reference: string;
  /** Id of the credential that is to do it. */
  credential: string;
  upstreamModel: string;
  order: Order;
  prompt: string;
  /** Of a text task, in OpenAI's form; of others none. */
  messages: readonly JsonValue[];
  /** https URLs or data URIs, checked for shape but not fetched. */
  inputImages: readonly string[];
  /** https URLs. */
  inputVideos: readonly string[];
}

/**
 * `found`: the vendor has it, under this handle, beyond doubt: a mistake would show one caller's work to another.
 * `absent`: the vendor surely has it not, or refuses a second one of the same reference: it may be handed over again.
 * `unclear`: neither is sure.
 */
export type LookUp = { kind: 'found'; handle: JobHandle } | { kind: 'absent' } | { kind: 'unclear' };

/** `too_late`: the vendor goes on with the work, or has ended it. */
export type Cancellation = 'cancelled' | 'too_late';

export type Submission =
  | { kind: 'accepted'; handle: JobHandle; upstreamRequestId: string | null }
  | { kind: 'finished'; results: UpstreamResult[]; evidence: Evidence; upstreamRequestId: string | null };

export type JobState =
  | { kind: 'queued' }
  /** Progress in percent where the vendor tells it, exactly as told: callers clamp. */
  | { kind: 'running'; progress: number | null }
  | { kind: 'succeeded'; results: UpstreamResult[]; evidence: Evidence }
  /** `evidence` only where the vendor bills what it does not deliver: nobody but the operator pays for that. */
  | { kind: 'failed'; errorClass: UpstreamErrorClass; text: string | null; evidence?: Evidence }
  | { kind: 'cancelled' }
  | { kind: 'expired' };

/**
 * Where the bytes of a result are: in the answer itself, under a URL, or under one that needs the vendor's key. URLs
 * that expire are renewed by another poll.
 */
export type UpstreamResult =
  | { kind: 'inline'; bytes: Uint8Array }
  | { kind: 'url'; url: string }
  | { kind: 'guarded_url'; url: string }
  /** Of a text task: the result itself. */
  | { kind: 'text'; text: string };

/**
 * What surely happened to a request that failed:
 * `not_received` – the vendor surely did not take the work (refused connection, 401, 429, 503), it may be tried again;
 * `refused` – the vendor answered with a refusal that would be repeated;
 * `unknown` – it may have been taken (silence, cut connection, unreadable answer): never repeat it blindly.
 */
export type RequestFate = 'not_received' | 'refused' | 'unknown';

/** A request to a vendor that brought no usable answer. */
export class UpstreamFailure extends Error {
  readonly errorClass: UpstreamErrorClass;
  readonly fate: RequestFate;
  /** The vendor's words, unmasked: mask before anybody reads them. */
  readonly text: string | null;
  /** How long the vendor asks to wait, if it does. */
  readonly retryAfterMs: number | null;
  readonly upstreamRequestId: string | null;
  /** Of the vendor's answer, if there was one. */
  readonly status: number | null;
  /** The vendor said nothing for as long as it may. */
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
    this.text = options.text ?? null;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.upstreamRequestId = options.upstreamRequestId ?? null;
    this.status = options.status ?? null;
    this.isSilence = options.isSilence ?? false;
  }
}

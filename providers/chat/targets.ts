// Where a text model can be had, in the order in which to ask: by priority, then by chance and weight, those in trouble last.
import type { Upstream } from '../../domain/catalog/catalog.ts';
import type { UpstreamFailure } from '../provider.ts';
import type { Credential, FamilySettings } from '../settings.ts';

/** One account at one upstream that has the model. */
export interface ChatTarget {
  family: string;
  baseUrl: string;
  credential: Credential;
  upstreamModel: string;
}

const REST_MS = { auth: 60_000, quota: 60_000, rate: 5_000, concurrency: 2_000, transient: 2_000 } as const;
const REST_MS_MAX = 60_000;

/** Remembers, in this process, who is in trouble. `now` in milliseconds, `random` from 0 to 1. */
export class ChatTargets {
  readonly #families: Readonly<Record<string, FamilySettings>>;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #restsUntil = new Map<string, number>();

  constructor(
    families: Readonly<Record<string, FamilySettings>>,
    now: () => number = Date.now,
    random: () => number = Math.random,
  ) {
    this.#families = families;
    this.#now = now;
    this.#random = random;
  }

  /** Every account that has the model, the best first. Those that rest come last, who is ready soonest before the others. */
  order(upstreams: readonly Upstream[]): ChatTarget[] {
    return upstreams
      .flatMap((upstream) => this.#targetsOf(upstream))
      .toSorted(
        (one, other) => one.restsMs - other.restsMs || one.priority - other.priority || one.turn - other.turn,
      )
      .map(({ target }) => target);
  }

  /** Passes an account over for a while, if the failure is the account's or the upstream's. */
  note(target: ChatTarget, { errorClass, retryAfterMs }: UpstreamFailure): void {
    if (!(errorClass in REST_MS)) return;
    const usual = Object.entries(REST_MS).find(([name]) => name === errorClass)?.[1] ?? 0;
    const restMs = Math.min(retryAfterMs ?? usual, REST_MS_MAX);
    this.#restsUntil.set(keyOf(target), this.#now() + restMs);
  }

  #targetsOf({ family, upstreamModel, priority, weight }: Upstream) {
    const settings = this.#families[family];
    return (settings?.credentials ?? []).map((credential) => {
      const target = { family, baseUrl: settings?.baseUrl ?? '', credential, upstreamModel };
      const restsMs = Math.max(0, (this.#restsUntil.get(keyOf(target)) ?? 0) - this.#now());
      // An exponential race: whoever has twice the weight comes first twice as often.
      const turn = -Math.log(1 - this.#random()) / Math.max(weight, Number.MIN_VALUE);
      return { target, restsMs, priority, turn };
    });
  }
}

function keyOf({ family, credential }: ChatTarget): string {
  return `${family} ${credential.id}`;
}

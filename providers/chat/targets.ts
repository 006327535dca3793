// Ranks the accounts that offer a text model: by priority, then by weighted chance, accounts in cooldown
// last.
import type { Upstream } from '../../domain/catalog/upstream.ts';
import type { UpstreamFailure } from '../provider.ts';
import type { Credential, FamilySettings } from '../settings.ts';

/** One account at one upstream that offers the model. */
export interface ChatTarget {
  family: string;
  baseUrl: string;
  credential: Credential;
  upstreamModel: string;
  auth: Upstream['auth'];
  limitField: Upstream['limitField'];
  responses: boolean;
}

/** Stands for the credential at an upstream that needs none. */
const NO_CREDENTIAL: Credential = { id: 'none', key: '' };

/**
 * How long an account is passed over after a failure of each class, unless the vendor names a wait of its
 * own.
 */
const COOLDOWN_MS = {
  auth: 60_000,
  quota: 60_000,
  rate: 5_000,
  concurrency: 2_000,
  transient: 2_000,
} as const;
const COOLDOWN_MS_MAX = 60_000;

/**
 * Ranks the accounts and remembers in memory which of them are in cooldown. Cooldowns of chat calls are kept
 * here and those of tasks in the table `credential_rest` (`db/tasks/credentials.ts`). A chat call must not
 * cost another statement, and a failed try is followed by the next account within the same call, so it is
 * enough that each process learns of a failing account by itself. A task is handed over once and chooses its
 * credential in the statement that also counts the jobs of all workers, so its cooldowns must be shared.
 * `now` is in milliseconds, `random` from 0 to 1.
 */
export class ChatTargets {
  readonly #families: Readonly<Record<string, FamilySettings>>;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #cooldownUntil = new Map<string, number>();

  constructor(
    families: Readonly<Record<string, FamilySettings>>,
    now: () => number = Date.now,
    random: () => number = Math.random,
  ) {
    this.#families = families;
    this.#now = now;
    this.#random = random;
  }

  /** Every account that offers the model, the best first; those in cooldown last, ordered by its end. */
  rank(upstreams: readonly Upstream[]): ChatTarget[] {
    return upstreams
      .flatMap((upstream) => this.#targetsOf(upstream))
      .toSorted(
        (one, other) =>
          one.cooldownMs - other.cooldownMs || one.priority - other.priority || one.turn - other.turn,
      )
      .map(({ target }) => target);
  }

  /** Starts a cooldown if the failure is the account's or the upstream's; ignores failures of the request. */
  recordFailure(target: ChatTarget, { errorClass, retryAfterMs }: UpstreamFailure): void {
    if (!(errorClass in COOLDOWN_MS)) return;
    const usual = Object.entries(COOLDOWN_MS).find(([name]) => name === errorClass)?.[1] ?? 0;
    const cooldownMs = Math.min(retryAfterMs ?? usual, COOLDOWN_MS_MAX);
    this.#cooldownUntil.set(keyOf(target), this.#now() + cooldownMs);
  }

  #targetsOf({ family, priority, weight, ...upstream }: Upstream) {
    const settings = this.#families[family];
    const baseUrl = upstream.baseUrl ?? settings?.baseUrl ?? '';
    const { upstreamModel, auth, limitField, responses } = upstream;
    const credentials = auth === 'none' ? [NO_CREDENTIAL] : (settings?.credentials ?? []);
    return credentials.map((credential) => {
      const target = { family, baseUrl, credential, upstreamModel, auth, limitField, responses };
      const cooldownMs = Math.max(0, (this.#cooldownUntil.get(keyOf(target)) ?? 0) - this.#now());
      // An exponential race: an upstream with twice the weight comes first twice as often.
      const turn = -Math.log(1 - this.#random()) / Math.max(weight, Number.MIN_VALUE);
      return { target, cooldownMs, priority, turn };
    });
  }
}

function keyOf({ family, baseUrl, credential }: ChatTarget): string {
  return `${family} ${baseUrl} ${credential.id}`;
}

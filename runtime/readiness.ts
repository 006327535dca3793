// Whether a process can do its work: the checks that the API and the worker share.

export interface Readiness {
  isReady: boolean;
  /**
   * State by part: `ok`, `none` if not configured, else what is wrong, which makes a ready process degraded.
   */
  parts: Readonly<Record<string, string>>;
}

/** How long each part may take to answer. */
const WAIT_MS = 500;

/**
 * Asks the database and Temporal. The database decides: its schema must be current. Without Temporal a
 * process is degraded, not unready, because reads and running calls do not need it.
 */
export async function checkSharedParts(ask: {
  isSchemaCurrent: () => Promise<boolean>;
  isTemporalReachable: (waitMs: number) => Promise<boolean>;
}): Promise<Readiness> {
  const [isCurrent, isTemporalThere] = await Promise.all([
    answerWithin(WAIT_MS, ask.isSchemaCurrent()),
    ask.isTemporalReachable(WAIT_MS),
  ]);
  return {
    isReady: isCurrent === true,
    parts: {
      database: isCurrent === null ? 'down' : isCurrent ? 'ok' : 'outdated',
      temporal: isTemporalThere ? 'ok' : 'down',
    },
  };
}

/** The answer of the question, or null when the question fails or takes longer than `waitMs`. */
export async function answerWithin<Answer>(
  waitMs: number,
  question: Promise<Answer>,
): Promise<Answer | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), waitMs);
  });
  const answer = question.catch(() => null);
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

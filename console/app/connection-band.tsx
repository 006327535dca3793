// Says that the API does not answer and how old the page is, and asks again until it does, ever more rarely.
import { useEffect } from 'preact/hooks';
import { call } from '../data/call.ts';
import { client } from '../data/client.ts';
import { connection } from '../data/connection.ts';
import { useStore } from '../data/store.ts';
import { t } from '../texts/index.ts';
import { formatClock } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';

const FIRST_PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 15_000;

export function ConnectionBand() {
  const { isLost, answeredAt } = useStore(connection);
  useEffect(() => (isLost ? askAgain() : undefined), [isLost]);
  // The browser knows at once what a stream without events would not notice.
  useEffect(() => {
    addEventListener('offline', connection.lost);
    return () => removeEventListener('offline', connection.lost);
  }, []);
  if (!isLost) return null;
  return (
    <div class="band" role="status">
      <Icon name="warning" />
      {t.away(formatClock(answeredAt))}
    </div>
  );
}

/**
 * Asks until there is an answer, then has everything on the page read anew. A browser that is online again asks
 * at once. Returns what ends it.
 */
function askAgain(): () => void {
  let pauseMs = FIRST_PAUSE_MS;
  let timer: ReturnType<typeof setTimeout>;
  const ask = async (): Promise<void> => {
    await call('GET /api/auth/me').catch(() => undefined);
    if (!connection.get().isLost) {
      await client.invalidateQueries();
      return;
    }
    pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
    clearTimeout(timer);
    timer = setTimeout(askNow, pauseMs);
  };
  const askNow = (): void => void ask();
  timer = setTimeout(askNow, pauseMs);
  addEventListener('online', askNow);
  return () => {
    clearTimeout(timer);
    removeEventListener('online', askNow);
  };
}

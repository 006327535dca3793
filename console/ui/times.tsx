// Times as people read them, with the whole moment and UTC on hover.
import { useEffect, useState } from 'preact/hooks';
import { formatAge, formatMoment, formatUtc, UNKNOWN } from './format.ts';

const TICK_MS = 1_000;

/** The present moment, again every second while it is watched. */
export function useNow(isTicking = true): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isTicking) return undefined;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}

function titleOf(at: string): string {
  return `${formatMoment(at)}\n${formatUtc(at)}`;
}

/** How long ago something was. */
export function Age({ at }: { at: string | null | undefined }) {
  const now = useNow();
  if (!at) return <>{UNKNOWN}</>;
  return (
    <time dateTime={at} title={titleOf(at)}>
      {formatAge(at, now)}
    </time>
  );
}

/** When something was. */
export function Moment({ at }: { at: string | null | undefined }) {
  if (!at) return <>{UNKNOWN}</>;
  return (
    <time dateTime={at} title={titleOf(at)}>
      {formatMoment(at)}
    </time>
  );
}

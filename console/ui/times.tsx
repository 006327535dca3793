// Times as people read them, with the whole moment and UTC on hover.
import { useEffect, useState } from 'preact/hooks';
import { formatAge, formatMoment, formatUtc, UNKNOWN } from './format.ts';

const TICK_MS = 1_000;

const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The present moment, again every second while it is watched. */
export function useNow(isTicking = true): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => (isTicking ? everySecond(() => setNow(Date.now())) : undefined), [isTicking]);
  return now;
}

/** Calls all watchers at the same moments. Returns what ends it for this one. */
function everySecond(watcher: () => void): () => void {
  if (watchers.size === 0)
    timer = setInterval(() => {
      for (const each of watchers) each();
    }, TICK_MS);
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) clearInterval(timer);
  };
}

function titleOf(at: string): string {
  return `${formatMoment(at)}\n${formatUtc(at)}`;
}

/** How long ago something was. */
export function Age({ at }: { at: string | null | undefined }) {
  const age = (): string => (at ? formatAge(at, Date.now()) : UNKNOWN);
  // Drawn anew only when it reads differently: a list has many of these.
  const [, setAge] = useState(age);
  useEffect(() => (at ? everySecond(() => setAge(age())) : undefined), [at]);
  if (!at) return <>{UNKNOWN}</>;
  return (
    <time dateTime={at} title={titleOf(at)}>
      {age()}
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

// Filters of lists live in the address. Those that several pages have are kept from one to the next.
import { useCallback, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';

/** Filters that tasks, calls and usage have in common. */
const SHARED = ['model', 'keyId', 'from', 'to'] as const;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
let kept: Readonly<Record<string, string | undefined>> = {};

/** The common filters as they were last set. */
export function keptFilters(): Readonly<Record<string, string | undefined>> {
  return kept;
}

/** The moment at which a period of so many days until now begins, by whole hours. */
export function beginOf(days: string, now = Date.now()): string {
  return new Date(Math.floor((now - Number(days) * DAY_MS) / HOUR_MS) * HOUR_MS).toISOString();
}

type Change = Readonly<Record<string, string | undefined>>;

/** The filters in the address, and what changes some of them; an empty value removes a filter. */
export function useFilters(): [filters: Readonly<Record<string, string>>, change: (changes: Change) => void] {
  const { query, path, route } = useLocation();
  const own = useRef(path);
  kept = Object.fromEntries(SHARED.map((name) => [name, query[name]]));
  const change = useCallback(
    (changes: Change) => {
      // A page stays while the next one is loaded; the address is that one's already.
      if (location.pathname.replace(/\/+$/, '') !== own.current.replace(/\/+$/, '')) return;
      // The address itself: another change may have come since the last drawing.
      const search = new URLSearchParams(location.search);
      for (const [name, value] of Object.entries(changes))
        if (value) search.set(name, value);
        else search.delete(name);
      route(search.size > 0 ? `${location.pathname}?${search}` : location.pathname, true);
    },
    [route],
  );
  return [query, change];
}

// The keys that work on every page: palette, help, creating, and `g` followed by a letter.
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { to } from '../data/addresses.ts';
import { isShortcut } from '../ui/keys.ts';
import { ACCOUNT_PAGE, MAIN_PAGES, MONEY_PAGES } from './pages.tsx';

/** Time in which the letter has to follow the `g`. */
const SEQUENCE_MS = 1_200;
const PAGE_KEYS = new Map(
  [...MAIN_PAGES, ...MONEY_PAGES, ACCOUNT_PAGE].map(({ key, path }) => [key ?? '', path]),
);

export function useShortcuts({
  openPalette,
  openHelp,
}: {
  openPalette: () => void;
  openHelp: () => void;
}): void {
  const { route } = useLocation();
  useEffect(() => {
    let goingUntil = 0;
    const onKey = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        openPalette();
        return;
      }
      if (!isShortcut(event)) return;
      const page = performance.now() < goingUntil ? PAGE_KEYS.get(event.key) : undefined;
      goingUntil = event.key === 'g' ? performance.now() + SEQUENCE_MS : 0;
      if (page !== undefined) route(to(page));
      else if (event.key === 'c') route(to('create'));
      else if (event.key === '?') openHelp();
      else if (event.key === '/') focusFilter(event);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [route]);
}

function focusFilter(event: KeyboardEvent): void {
  const filter = document.querySelector<HTMLElement>('[data-filter]');
  if (!filter) return;
  event.preventDefault();
  filter.focus();
}

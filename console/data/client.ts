// The cache of everything that was read, shared by all pages.
import { QueryClient } from '@tanstack/preact-query';
import { ApiError } from './api-error.ts';

/** Age at which data that a page shows again is read again. */
const STALE_MS = 5_000;
const KEPT_MS = 10 * 60_000;
const ATTEMPTS_MAX = 6;
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 15_000;

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      gcTime: KEPT_MS,
      networkMode: 'always',
      retry: (attempts, error) => error instanceof ApiError && error.isAway && attempts < ATTEMPTS_MAX,
      retryDelay: (attempt) => Math.min(PAUSE_MS * 2 ** attempt, PAUSE_MS_MAX),
    },
    mutations: { networkMode: 'always', retry: false },
  },
});

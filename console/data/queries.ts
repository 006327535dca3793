// What several pages read: who is logged in, the balance, tasks, keys, models.
import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/preact-query';
import { ApiError } from './api-error.ts';
import { call } from './call.ts';
import { liveness } from './events.ts';
import { useStore } from './store.ts';
import type { Task } from './types.ts';
import type { AnswerOf, QueryOf } from '../../api/openapi/route-types.ts';

/** Pause between readings of what changes, while no stream tells of changes. */
const POLL_MS = 2_500;
const LONG_MS = 10 * 60_000;
const KEYS_MAX = 100;
const PAGE_ROWS = '50';

/** The user; null without a session. */
export const ME = queryOptions({
  queryKey: ['me'],
  staleTime: LONG_MS,
  queryFn: async ({ signal }) => {
    try {
      return (await call('GET /api/auth/me', { signal })).data;
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.code === 'account_disabled'))
        return null;
      throw error;
    }
  },
});

export function useMe() {
  return useQuery(ME);
}

/** `enabled`: whether it is wanted already. */
export function useBalance(enabled = true) {
  const isPolling = useStore(liveness) === 'polling';
  return useQuery({
    queryKey: ['balance'],
    enabled,
    refetchInterval: isPolling ? 4 * POLL_MS : false,
    queryFn: async ({ signal }) => (await call('GET /api/balance', { signal })).data,
  });
}

export type TaskFilters = Omit<NonNullable<QueryOf<'GET /api/tasks'>>, 'cursor' | 'limit'>;

/** Tasks that fit the filters, page by page, newest first. */
export function tasksThatFit(filters: TaskFilters) {
  return infiniteQueryOptions({
    queryKey: ['tasks', filters],
    initialPageParam: '',
    queryFn: ({ signal, pageParam: cursor }) =>
      call('GET /api/tasks', {
        signal,
        query: { ...filters, limit: PAGE_ROWS, ...(cursor && { cursor }) },
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
}

/** `isWanted`: whether they are wanted already. */
export function useTasks(filters: TaskFilters, { isPaused = false, isWanted = true } = {}) {
  const isPolling = useStore(liveness) === 'polling';
  return useInfiniteQuery({
    ...tasksThatFit(filters),
    enabled: isWanted,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      const isMoving = state.data?.pages.some(({ data }) => data.some((task) => !task.completedAt));
      return isPolling && isMoving && !isPaused ? POLL_MS : false;
    },
  });
}

export function useTask(id: string, enabled = true) {
  const isPolling = useStore(liveness) === 'polling';
  return useQuery({
    queryKey: ['task', id],
    enabled,
    queryFn: async ({ signal }): Promise<Task> =>
      (await call('GET /api/tasks/:id', { signal, params: { id } })).data,
    refetchInterval: ({ state }) => (isPolling && state.data && !state.data.completedAt ? POLL_MS : false),
  });
}

export function useTimeline(task: Task | undefined, id: string) {
  const isPolling = useStore(liveness) === 'polling';
  return useQuery({
    queryKey: ['timeline', id, task?.status, task?.attempt],
    placeholderData: keepPreviousData,
    refetchInterval: isPolling && task && !task.completedAt ? POLL_MS : false,
    queryFn: async ({ signal }) =>
      (await call('GET /api/tasks/:id/timeline', { signal, params: { id } })).data,
  });
}

export function useKeys(enabled = true) {
  return useQuery({
    queryKey: ['keys'],
    enabled,
    queryFn: async ({ signal }) =>
      (await call('GET /api/keys', { signal, query: { limit: String(KEYS_MAX) } })).data,
  });
}

export type ShownModel = AnswerOf<'GET /api/models'>['data'][number];

export function useModels(enabled = true) {
  return useQuery({
    queryKey: ['models'],
    enabled,
    staleTime: LONG_MS,
    queryFn: async ({ signal }): Promise<ShownModel[]> => (await call('GET /api/models', { signal })).data,
  });
}

/** What installation this is; null where it does not say. */
export function useAbout(enabled = true) {
  return useQuery({
    queryKey: ['about'],
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      try {
        return (await call('GET /api/console', { signal })).data;
      } catch {
        return null;
      }
    },
  });
}

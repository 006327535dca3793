// What the pages of webhooks read: the endpoints of the user or of all, one of them, and what was sent to it.
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { call } from './call.ts';
import type { WebhookDelivery } from './types.ts';

/** More than a user may have. */
const ENDPOINTS = '100';
const DELIVERIES = '20';
/** Bounds of the pause between readings while a delivery is on its way. */
const PAUSE_MS_MIN = 1_500;
const PAUSE_MS_MAX = 60_000;

export function useWebhooks() {
  return useQuery({
    queryKey: ['webhooks'],
    queryFn: async ({ signal }) =>
      (await call('GET /api/webhooks', { signal, query: { limit: ENDPOINTS } })).data,
  });
}

export function useWebhook(id: string) {
  return useQuery({
    queryKey: ['webhooks', id],
    queryFn: async ({ signal }) => (await call('GET /api/webhooks/:id', { signal, params: { id } })).data,
  });
}

/** What was sent, newest first; read again when the next attempt is due. */
export function useDeliveries(id: string) {
  return useSent(['webhooks', id, 'deliveries'], (query, signal) =>
    call('GET /api/webhooks/:id/deliveries', { signal, params: { id }, query }),
  );
}

/** The same of an endpoint of any user, for administrators. */
export function useForeignDeliveries(id: string) {
  return useSent(['admin', 'webhooks', id, 'deliveries'], (query, signal) =>
    call('GET /api/admin/webhooks/:id/deliveries', { signal, params: { id }, query }),
  );
}

interface SentPage<Delivery> {
  data: Delivery[];
  nextCursor: string | null;
}

function useSent<Delivery extends Pending>(
  queryKey: readonly string[],
  read: (query: { limit: string; cursor?: string }, signal: AbortSignal) => Promise<SentPage<Delivery>>,
) {
  return useInfiniteQuery({
    queryKey,
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam: cursor }) =>
      read({ limit: DELIVERIES, ...(cursor && { cursor }) }, signal),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: ({ state }) => pauseUntilNext(state.data?.pages.flatMap(({ data }) => data) ?? []),
  });
}

type Pending = Pick<WebhookDelivery, 'status' | 'nextAttemptAt'>;

/** Milliseconds until an attempt is due; false when none is to come. */
function pauseUntilNext(deliveries: readonly Pending[]): number | false {
  const pending = deliveries.filter(({ status }) => status === 'pending');
  if (pending.length === 0) return false;
  const next = Math.min(...pending.map(({ nextAttemptAt: at }) => (at ? Date.parse(at) - Date.now() : 0)));
  return Math.max(PAUSE_MS_MIN, Math.min(next, PAUSE_MS_MAX));
}

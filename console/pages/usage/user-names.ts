// The e-mail addresses of users, for administrators who may read them.
import { useQueries } from '@tanstack/preact-query';
import { call } from '../../data/call.ts';
import { useMe } from '../../data/queries.ts';
import { hasPermission } from '../../data/session.ts';

/** So many users of a report are named; the others keep their ids. */
const NAMED_MAX = 20;
const LONG_MS = 10 * 60_000;

/** Addresses by id, as far as they are read. */
export function useUserNames(ids: readonly (string | null)[]): ReadonlyMap<string, string> {
  const me = useMe().data;
  const named = me && hasPermission(me, 'users.read') ? ids.slice(0, NAMED_MAX) : [];
  const found = useQueries({
    queries: named
      .filter((id) => id !== null)
      .map((id) => ({
        queryKey: ['user-name', id],
        staleTime: LONG_MS,
        queryFn: async () => (await call('GET /api/admin/users/:id', { params: { id } })).data,
      })),
  });
  return new Map(found.flatMap(({ data }) => (data ? [[data.id, data.email] as const] : [])));
}

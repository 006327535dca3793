// The e-mail addresses of users, for administrators who may read them.
import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import { call } from '../../data/call.ts';
import { client } from '../../data/client.ts';
import { useMe } from '../../data/queries.ts';
import { hasPermission } from '../../data/session.ts';

/** So many users of a report are named; the others keep their ids. */
const NAMED_MAX = 20;
const LONG_MS = 10 * 60_000;

/** Addresses by id, as far as they are read. */
export function useUserNames(ids: readonly (string | null)[]): ReadonlyMap<string, string> {
  const me = useMe().data;
  const named = me && hasPermission(me, 'users.read') ? ids.slice(0, NAMED_MAX) : [];
  const known = named.filter((id) => id !== null);
  const found = useQuery({
    queryKey: ['user-names', known],
    placeholderData: keepPreviousData,
    queryFn: () => Promise.allSettled(known.map(nameOf)),
  }).data;
  return new Map(found?.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
}

/** The id with its address. What was read of one user is kept for the next report that has it. */
async function nameOf(id: string): Promise<[id: string, email: string]> {
  const { email } = await client.fetchQuery({
    queryKey: ['user-name', id],
    staleTime: LONG_MS,
    queryFn: async () => (await call('GET /api/admin/users/:id', { params: { id } })).data,
  });
  return [id, email];
}

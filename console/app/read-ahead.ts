// Reads the user before anything is drawn, and the tasks where they are the page that is opened: with both
// there, the rows are drawn at once, and not their empty places first.
import { to } from '../data/addresses.ts';
import { client } from '../data/client.ts';
import { ME, tasksThatFit } from '../data/queries.ts';
import { queryOf } from '../pages/tasks/filters.tsx';

export function readAhead(): void {
  const isLoggedOut = client.getQueryData(ME.queryKey) === null;
  if (isLoggedOut) return;
  void client.prefetchQuery(ME);
  if (location.pathname !== to('tasks')) return;
  const filters = Object.fromEntries(new URLSearchParams(location.search));
  void client.prefetchInfiniteQuery(tasksThatFit(queryOf(filters)));
}

// The tasks that home shows: the newest, those that have not ended, those that failed last.
import { useQueryClient } from '@tanstack/preact-query';
import { useEffect } from 'preact/hooks';
import { unseenTasks } from '../../data/events.ts';
import { useTasks } from '../../data/queries.ts';
import { useStore } from '../../data/store.ts';
import type { Task } from '../../data/types.ts';
import { isOpen } from '../../ui/status.tsx';

/** How long new tasks gather before the lists are read again for all of them. */
const GATHERED_MS = 500;

export function useCurrentTasks() {
  useArrivals();
  const list = useTasks({});
  const newest = list.data?.pages[0]?.data ?? [];
  // What runs for long, and what failed, may be older than all of the newest.
  const isWanted = list.hasNextPage;
  const queued = useTasks({ status: 'queued' }, { isWanted });
  const begun = useTasks({ status: 'in_progress' }, { isWanted });
  const failed = useTasks({ status: 'failed' }, { isWanted });
  const rowsOf = ({ data }: typeof list): readonly Task[] => data?.pages[0]?.data ?? [];
  const known = unite([newest, rowsOf(queued), rowsOf(begun), rowsOf(failed)]);
  return {
    list,
    newest,
    running: known.filter(isOpen),
    failed: known
      .filter(({ status }) => status === 'failed')
      .toSorted((one, other) => (other.completedAt ?? '').localeCompare(one.completedAt ?? '')),
    isReadingRunning: list.isPending || (isWanted && (queued.isPending || begun.isPending)),
    isReadingFailed: list.isPending || (isWanted && failed.isPending),
  };
}

/** Reads the lists again when tasks were made that are in none of them. */
function useArrivals(): void {
  const hasUnseen = useStore(unseenTasks).size > 0;
  const queries = useQueryClient();
  useEffect(() => {
    if (!hasUnseen) return undefined;
    const timer = setTimeout(() => {
      unseenTasks.set(new Set());
      void queries.invalidateQueries({ queryKey: ['tasks'] });
    }, GATHERED_MS);
    return () => clearTimeout(timer);
  }, [hasUnseen, queries]);
}

/** Each task once, newest first. */
function unite(lists: readonly (readonly Task[])[]): Task[] {
  const byId = new Map(lists.flat().map((task) => [task.id, task]));
  return [...byId.values()].toSorted((one, other) => other.createdAt.localeCompare(one.createdAt));
}

// Tells once when a task ends, however the news came: pushed by the stream, or read with a list or by itself.
import type { InfiniteData } from '@tanstack/preact-query';
import { client } from './client.ts';
import type { Task, TaskPage } from './types.ts';

/** Whether it has ended, by task and attempt, of all that this page has seen. */
const seen = new Map<string, boolean>();
const listeners = new Set<(task: Task) => void>();

/** Calls the listener when a task ends that was seen here before, or whose end is the first news of it. */
export function onTaskEnd(listener: (task: Task) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Looks at a task as it is now. `isNews`: it changed just now; what a list shows may have ended long ago. */
export function seeTask(task: Task, isNews: boolean): void {
  const key = `${task.id} ${task.attempt}`;
  const hadEnded = seen.get(key);
  // A list that was on its way may show the task as it was before.
  seen.set(key, hadEnded === true || task.completedAt !== null);
  if (task.completedAt === null || (hadEnded ?? !isNews)) return;
  for (const listener of listeners) listener(task);
}

client.getQueryCache().subscribe((event) => {
  if (event.type !== 'updated' || event.action.type !== 'success') return;
  const { queryKey, state } = event.query;
  if (queryKey[0] === 'task') seeTask(state.data as Task, false);
  if (queryKey[0] === 'tasks')
    for (const page of (state.data as InfiniteData<TaskPage>).pages)
      for (const task of page.data) seeTask(task, false);
});

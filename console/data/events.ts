// The one stream of events of the page that is seen: changes of tasks and of the balance, into the cache.
import type { InfiniteData } from '@tanstack/preact-query';
import { apiUrl } from './addresses.ts';
import { call } from './call.ts';
import { client } from './client.ts';
import { connection } from './connection.ts';
import { seeTask } from './ended-tasks.ts';
import { createStore } from './store.ts';
import type { Balance, Task, TaskPage } from './types.ts';

/** How changes arrive: pushed, or read every few seconds because no stream can be had. */
export const liveness = createStore<'stream' | 'polling'>('polling');
/** Counts tasks that were made since a list was read, and are not in it. */
export const unseenTasks = createStore<ReadonlySet<string>>(new Set());

/** What the events change, by the first word of its key. */
const LIVE = ['tasks', 'task', 'timeline', 'balance'];
/** Pause before a stream that was refused is asked for again. */
const REFUSED_MS = 30_000;
/** A hidden page gives its stream back: browsers allow six connections per host. */
const HIDDEN_MS = 2_000;
/** The end of a task is news for an hour, in case the clocks differ. */
const NEWS_MS = 3_600_000;

/** Keeps a stream open while the page can be seen; returns what ends it. */
export function followEvents(): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    source?.close();
    source = null;
    liveness.set('polling');
  };
  const open = (): void => {
    clearTimeout(timer);
    if (source || document.hidden) return;
    source = new EventSource(apiUrl('api/events'));
    source.addEventListener('open', () => {
      liveness.set('stream');
      // What changed before the stream began is in none of its events.
      for (const name of LIVE) void client.invalidateQueries({ queryKey: [name] });
    });
    source.addEventListener('task', (event) => taskChanged(JSON.parse(event.data)));
    source.addEventListener('balance', (event) => balanceChanged(JSON.parse(event.data)));
    source.addEventListener('error', () => {
      liveness.set('polling');
      // Streams end for many reasons; this finds out whether the API is away, or the session ended.
      if (!connection.get().isLost) void call('GET /api/auth/me').catch(() => undefined);
      if (source?.readyState !== EventSource.CLOSED) return;
      close();
      timer = setTimeout(open, REFUSED_MS);
    });
  };
  const look = (): void => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(close, HIDDEN_MS);
    else open();
  };
  open();
  document.addEventListener('visibilitychange', look);
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
    close();
  };
}

/** Puts a task's new state wherever the task is shown. */
export function taskChanged(task: Task): void {
  // An old task changes, too: its result is removed because of its age, or by its owner.
  const isNews = !task.completedAt || Date.now() - Date.parse(task.completedAt) < NEWS_MS;
  const before = client.getQueryData<Task>(['task', task.id]) ?? findListed(task.id);
  seeTask(task, isNews);
  client.setQueryData(['task', task.id], task);
  let isListed = false;
  client.setQueriesData<InfiniteData<TaskPage>>({ queryKey: ['tasks'] }, (list) => {
    if (!list?.pages.some(({ data }) => data.some(({ id }) => id === task.id))) return list;
    isListed = true;
    const pages = list.pages.map((page) => ({
      ...page,
      data: page.data.map((row) => (row.id === task.id ? task : row)),
    }));
    return { ...list, pages };
  });
  if (isNews && !isListed && !before) unseenTasks.set(new Set([...unseenTasks.get(), task.id]));
  void client.invalidateQueries({ queryKey: ['timeline', task.id] });
  if (before?.status !== task.status && task.completedAt)
    void client.invalidateQueries({ queryKey: ['money'] });
}

function findListed(id: string): Task | undefined {
  for (const [, list] of client.getQueriesData<InfiniteData<TaskPage>>({ queryKey: ['tasks'] }))
    for (const page of list?.pages ?? []) for (const row of page.data) if (row.id === id) return row;
  return undefined;
}

function balanceChanged(change: Pick<Balance, 'balance' | 'reserved' | 'available'>): void {
  client.setQueryData<Balance>(['balance'], (balance) => balance && { ...balance, ...change });
}

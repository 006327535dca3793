// Addresses inside the console and of the API, relative to where the console was loaded from.

/** The files stand in `console/assets/`; a proxy in front may have put a path of its own before that. */
const ASSETS = new URL('.', import.meta.url);
const CONSOLE = new URL('../', ASSETS);
const API = new URL('../', CONSOLE);

/** Path of the console's root, with a slash at its end. */
export const ROOT = CONSOLE.pathname;

/** Path of a page, such as `tasks` or `tasks/task_…`, with its query. Values that are empty are left out. */
export function to(page: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value);
  return ROOT + page + (search.size > 0 ? `?${search}` : '');
}

/** Whole address of a path of the API, such as `api/tasks`. */
export function apiUrl(path: string): string {
  return new URL(path.replace(/^\//, ''), API).href;
}

/** Address that callers of the API use, without a slash at its end. */
export function apiBase(): string {
  return API.href.replace(/\/$/, '');
}

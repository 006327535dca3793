// Links in the head of the console's page, by which the browser loads what the page needs first while its
// scripts are still on their way.
import type { Manifest } from './built-console.ts';

/** An id, as it may stand in a path of the console. */
const ID = /^\w{1,100}$/;

interface Opened {
  /** The path below the console's root. */
  path: string;
  hasQuery: boolean;
  language: string;
  /** The way from the page to the console's root. */
  base: string;
}

/**
 * Links the scripts of the page and of its language, and what the page reads of the API; a query changes what
 * that is, so nothing is read ahead of a page with one. Empty for a path that is no page's.
 */
export function writeFirstLinks({ firstLoads, languages }: Manifest, opened: Opened): string {
  const { path, hasQuery, language, base } = opened;
  const load = firstLoads.find((one) => fill(one.path, one.path, path) === path);
  const scripts = [...(languages[language] ?? []), ...(load?.scripts ?? [])];
  const reads = load && !hasQuery ? load.reads.map((read) => fill(read, load.path, path)) : [];
  return [
    ...reads.map((read) => `<link rel="preload" as="fetch" crossorigin href="${base}../${escape(read)}" />`),
    ...scripts.map((name) => `<link rel="modulepreload" href="${base}assets/${name}" />`),
  ].join('\n    ');
}

/** Puts the id, which the path has where the pattern has `:id`, into the text. */
function fill(text: string, pattern: string, path: string): string {
  const at = pattern.split('/').indexOf(':id');
  const id = at < 0 ? undefined : path.split('/')[at];
  return id !== undefined && ID.test(id) ? text.replace(':id', id) : text;
}

function escape(address: string): string {
  return address.replaceAll('&', '&amp;');
}

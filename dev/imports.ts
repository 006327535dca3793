// Reads which files of the project a program is made of, by following the relative imports in their texts.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Types are gone at run time: what only they name is not loaded. */
const TYPE_IMPORTS = /^(?:import|export) type [^;]*;/gm;
/** Modules that are loaded by path, as the workflows are, count too. */
const IMPORTS = /\b(?:from|import|new URL)\s*\(?\s*'(\.{1,2}\/[^']+\.[cm]?[jt]s)'/g;

/** The text of each file by its absolute path, the entries included; empty where there is no such file. */
export function readModules(entries: readonly string[]): Map<string, string> {
  const modules = new Map<string, string>();
  const pending = entries.map((entry) => resolve(entry));
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (modules.has(file)) continue;
    const text = readText(file);
    modules.set(file, text);
    for (const [, path = ''] of text.replaceAll(TYPE_IMPORTS, '').matchAll(IMPORTS))
      pending.push(resolve(dirname(file), path));
  }
  return modules;
}

/**
 * Empty when there is no such file: an import inside a text, or a mistake that the program itself reports.
 */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

// Reads which files of the project a program is made of, by following the relative imports in their texts.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Type-only imports: types are gone at run time, so their modules are not loaded. */
const TYPE_IMPORTS = /^(?:import|export) type [^;]*;/gm;
/** Imports, including modules that are loaded by path, as the workflows are. */
const IMPORTS = /\b(?:from|import|new URL)\s*\(?\s*'(\.{1,2}\/[^']+\.(?:[cm]?[jt]s|tsx))'/g;

/**
 * Reads the text of each file by its absolute path, the entries included; empty for a file that does not
 * exist.
 */
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
 * Reads a file; empty when it does not exist: the import stands in a text, or the program itself reports
 * it.
 */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

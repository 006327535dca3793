// Reads the project's Markdown, and finds in the code what it names: files, declarations, constants.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { SETTING_DEFAULTS } from '../../config/settings.ts';

const PROJECT = join(import.meta.dirname, '../..');

/** Milliseconds, bytes or pieces in one unit, as it stands behind a figure. */
const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  second: 1000,
  seconds: 1000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
};
/** The unit in a constant's name. */
const UNITS_IN_NAMES: readonly [suffix: RegExp, factor: number][] = [
  [/_MS(_|$)|Ms$/, 1],
  [/_SECONDS(_|$)/, 1000],
  [/_MINUTES(_|$)/, 60_000],
  [/_HOURS(_|$)/, 3_600_000],
  [/_DAYS(_|$)/, 86_400_000],
];

export function read(path: string): string {
  return readFileSync(join(PROJECT, path), 'utf8');
}

export function exists(path: string): boolean {
  return existsSync(join(PROJECT, path));
}

/** Paths of all Markdown files below a folder. */
export function markdownIn(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)
    .sort();
}

/**
 * The lines that are read as sentences: no code, no tables, no links, whose targets are as long as they are.
 */
export function proseOf(text: string): string[] {
  return text
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .split('\n')
    .filter((line) => !line.startsWith('|') && !line.startsWith('    ') && !line.includes(']('));
}

/** Links to other places in the repository, as path and anchor; '' where one of them is missing. */
export function linksOf(path: string): { file: string; anchor: string }[] {
  const links = [...read(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return links
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      return { file: file === '' ? path : normalize(join(dirname(path), file)), anchor };
    });
}

/** The anchors of a document's headings, as GitHub makes them. */
export function anchorsOf(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** Whether a function, constant, class, type, or member of one is declared in this file under this name. */
export function declares(file: string, name: string): boolean {
  const declared = new RegExp(`\\b(?:function\\*?|const|let|class|interface|type) ${name}\\b`);
  const member = new RegExp(`^ +(?:readonly |async )*${name}\\??(?:: |\\(|<)`, 'm');
  const text = read(file);
  return declared.test(text) || member.test(text);
}

/**
 * Every word of the code, catalogue and deployment files, and every setting: what a name in a document can
 * mean.
 */
export function wordsOfCode(): Set<string> {
  const words = new Set<string>(SETTING_DEFAULTS.keys());
  for (const path of projectFiles(
    /\.(ts|mjs|sh|yml|py)$|^catalog\.json$|^(package|tsconfig)\.json$|^\.env\.example$/,
  ))
    for (const [word] of read(path).matchAll(/\w+/g)) words.add(word);
  return words;
}

/**
 * Values of a setting, of the constants, or of the members of constants that have this name: one for each
 * file.
 */
export function valuesOf(name: string): number[] {
  const found = SETTING_DEFAULTS.get(name);
  if (found) return [Number(found)];
  const constant = `^(?:export )?const ${name}(?:: \\w+)? = ([\\d_ .*]+)(?:;| as const)`;
  const pattern = new RegExp(/^[A-Z]/.test(name) ? constant : `^ +${name}: ([\\d_ .*]+),$`, 'm');
  return projectFiles(/\.ts$/)
    .map((path) => pattern.exec(read(path))?.[1])
    .filter((expression) => expression !== undefined)
    .map(evaluate);
}

/** Whether a figure with its unit, such as `1,500` and `ms`, says the same as a constant's value. */
export function saysTheSame(figure: string, unit: string, name: string, value: number): boolean {
  const inName = UNITS_IN_NAMES.find(([suffix]) => suffix.test(name))?.[1] ?? 1;
  const told = Number(figure.replaceAll(',', '')) * (UNITS[unit] ?? 1);
  return Math.abs(told - value * inName) < 1e-9;
}

/** A product such as `10 * 60_000`; powers are allowed as factors. */
function evaluate(expression: string): number {
  return expression
    .replaceAll('_', '')
    .split(/(?<!\*)\*(?!\*)/)
    .map((factor) => factor.split('**').map(Number))
    .map(([base = 1, exponent = 1]) => base ** exponent)
    .reduce((product, factor) => product * factor, 1);
}

/** Files of the project itself: not those of packages, of git, or made at run time. */
function projectFiles(pattern: RegExp): string[] {
  const roots = readdirSync(PROJECT, { withFileTypes: true }).filter(
    ({ name }) => name === '.env.example' || (!name.startsWith('.') && name !== 'node_modules'),
  );
  return roots
    .flatMap((root) =>
      root.isDirectory()
        ? readdirSync(join(PROJECT, root.name), { recursive: true, encoding: 'utf8' }).map(
            (name) => `${root.name}/${name}`,
          )
        : [root.name],
    )
    .filter((path) => pattern.test(path));
}

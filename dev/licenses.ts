// `npm run licenses`: writes docs/licenses.md, the packages of production and the licences they come under.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

export const LICENSES_PAGE = 'docs/licenses.md';
const LOCK = 'package-lock.json';
const FOLDER = 'node_modules/';

/** Licences that ask for no more than a notice. */
export const PERMISSIVE: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
]);

/** A package whose licence asks for more, with the reason why it may be used. */
export interface Exception {
  packages: RegExp;
  license: string;
  reason: string;
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    packages: /^@img\/sharp-/,
    license: 'LGPL-3.0-or-later',
    reason: 'libvips for sharp, as a shared library, unchanged and replaceable',
  },
  {
    packages: /^caniuse-lite$/,
    license: 'CC-BY-4.0',
    reason: 'a table of browsers for a build tool of Temporal’s, credited here as it asks',
  },
];

/** Packages whose package.json names no licence in today's form, with what their licence file says. */
const READ_BY_HAND: Readonly<Record<string, string>> = {
  busboy: 'MIT',
  streamsearch: 'MIT',
  unionfs: 'Unlicense',
};

export interface LicensedPackage {
  name: string;
  version: string;
  /** An SPDX expression; null when none is known. */
  license: string | null;
}

const LOCKED = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().optional(),
      devOptional: z.boolean().optional(),
    }),
  ),
});
const MANIFEST = z.object({ license: z.string().optional() });

/**
 * Reads the packages of production from the lock file, those of other systems included, so that the list is
 * the same on every machine. Sorted by name and version, each once.
 */
export function readProductionPackages(): LicensedPackage[] {
  const { packages } = LOCKED.parse(JSON.parse(readFileSync(LOCK, 'utf8')));
  const found = new Map<string, LicensedPackage>();
  for (const [path, entry] of Object.entries(packages)) {
    if (path === '' || entry.dev || entry.devOptional) continue;
    const name = path.slice(path.lastIndexOf(FOLDER) + FOLDER.length);
    const { version = '' } = entry;
    const license = entry.license ?? licenseInFolder(path) ?? READ_BY_HAND[name] ?? null;
    found.set(`${name}@${version}`, { name, version, license });
  }
  return [...found.values()].sort(
    (one, other) => compare(one.name, other.name) || compare(one.version, other.version),
  );
}

/** The licences of an expression that are neither permissive nor excepted for this package. */
export function findUnwelcome({ name, license }: LicensedPackage): string[] {
  if (license === null) return ['none known'];
  const isAllowed = (one: string): boolean =>
    PERMISSIVE.has(one) ||
    EXCEPTIONS.some((exception) => exception.license === one && exception.packages.test(name));
  // Of alternatives, one that is allowed is enough.
  const alternatives = license
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .map((one) => one.split(' AND '));
  if (alternatives.some((all) => all.every(isAllowed))) return [];
  return alternatives.flat().filter((one) => !isAllowed(one));
}

export function composeLicensesPage(): string {
  const packages = readProductionPackages();
  const byLicense = Map.groupBy(packages, ({ license }) => license ?? 'none known');
  const sections = [...byLicense].sort(
    ([one, few], [other, many]) => many.length - few.length || compare(one, other),
  );
  return [
    '# Licences',
    '',
    `Made from \`${LOCK}\` by \`npm run licenses\`; do not edit.`,
    '',
    `The ${packages.length} packages that production may install, by licence; which of them a machine gets depends on its`,
    'system. A test refuses every licence that asks for more than a notice, except these:',
    '',
    ...EXCEPTIONS.map(
      ({ packages: names, license, reason }) => `- \`${names.source}\` (${license}): ${reason}.`,
    ),
    '',
    ...sections.flatMap(([license, all]) => [
      `## ${license}`,
      '',
      ...all.map(({ name, version }) => `- ${name} ${version}`),
      '',
    ]),
  ].join('\n');
}

function licenseInFolder(path: string): string | undefined {
  const file = `${path}/package.json`;
  if (!existsSync(file)) return undefined;
  return MANIFEST.parse(JSON.parse(readFileSync(file, 'utf8'))).license;
}

/** Compares by code units: the same order on every machine. */
function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

if (import.meta.main) writeFileSync(LICENSES_PAGE, composeLicensesPage());

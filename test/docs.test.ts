// The documents name files, folders, settings and commands: each of them must be there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import { SETTING_DEFAULTS } from '../config/config.ts';
import { readDirectives } from '../sandbox/directives.ts';
import { ROUTES } from '../api/app.ts';
import { TASK_FAILURES } from '../domain/failures.ts';

const project = join(import.meta.dirname, '..');
const readme = read('README.md');
const documents = ['README.md', ...markdownIn('docs')];
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')));

const FILE = /(?<![\w@/.:-])((?:[\w.-]+\/)*[\w.-]+\.(?:ts|mjs|json|yml|yaml|md|sh))(?![\w/-])/g;
/** What `npm start` makes in the data folder. */
const MADE_AT_RUN_TIME = /(^|\/)(dev|demo)\.json$/;

describe('the documents', () => {
  for (const path of documents) {
    it(`${path} names files and folders that exist`, () => {
      const text = read(path).replaceAll(/https?:\/\/\S+/g, '');
      const folder = path.slice(0, path.lastIndexOf('/') + 1);
      for (const [, file = ''] of text.matchAll(FILE)) {
        if (MADE_AT_RUN_TIME.test(file)) continue;
        const isThere = existsSync(join(project, file)) || existsSync(join(project, folder, file));
        expect(isThere, `${file} in ${path}`).to.equal(true);
      }
      for (const [, room = ''] of text.matchAll(/`((?:[a-z]+\/)+)`/g))
        expect(existsSync(join(project, room)), `${room} in ${path}`).to.equal(true);
    });

    it(`${path} names npm scripts that exist`, () => {
      for (const [, name = ''] of read(path).matchAll(/npm run ([a-z]+)/g))
        expect(scripts, `npm run ${name} in ${path}`).to.have.property(name);
    });

    it(`${path} names routes that exist`, () => {
      for (const [, method = '', url = ''] of read(path).matchAll(/\b(GET|POST|PATCH|DELETE) (\/[\w/:]+)/g)) {
        const isThere = ROUTES.some((route) => route.method === method && route.path === url);
        expect(isThere, `${method} ${url} in ${path}`).to.equal(true);
      }
    });

    it(`${path} names failure codes that exist`, () => {
      for (const [, code = ''] of read(path).matchAll(/`(upstream_\w+)`/g))
        expect(TASK_FAILURES, `${code} in ${path}`).to.have.property(code);
    });
  }

  it('are numbered without gaps in docs/decisions', () => {
    const numbers = markdownIn('docs/decisions').map((path) => Number(/\/(\d{3})-/.exec(path)?.[1]));
    expect(numbers.toSorted((one, other) => one - other)).to.deep.equal(numbers.map((_, index) => index + 1));
  });
});

describe('README.md', () => {
  it('lists every setting with its default, and no other', () => {
    const rows = [...readme.matchAll(/^\| (`[A-Z][^|]*) \| ([^|]*) \|/gm)].map(
      ([, names = '', value = '']) => ({
        names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
        defaults: [...value.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text),
      }),
    );
    expect(rows.flatMap(({ names }) => names)).to.have.members([...SETTING_DEFAULTS.keys()]);
    for (const { names, defaults } of rows) {
      const expected = names.map((name) => SETTING_DEFAULTS.get(name)).filter((value) => value !== null);
      expect(defaults, names.join(', ')).to.deep.equal(expected);
    }
  });

  it('shows sandbox directives that the sandbox knows', () => {
    const directives = [...readme.matchAll(/\[\[sandbox[^\]]*\]\]/g)].map(([text]) => text);
    expect(directives).to.have.length.above(2);
    for (const text of directives) expect(() => readDirectives(text), text).not.to.throw();
  });

  it('shows requests to routes that exist', () => {
    const urls = [...readme.matchAll(/\$BASE(\/[\w/$-]+)/g)].map(([, url = '']) =>
      url.replaceAll(/\$\w+/g, ':id'),
    );
    expect(urls).to.have.length.above(6);
    for (const url of urls) expect(ROUTES.map(({ path }) => path)).to.include(url);
  });
});

function markdownIn(folder: string): string[] {
  const names = readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)
    .sort();
}

function read(path: string): string {
  return readFileSync(join(project, path), 'utf8');
}

// The documents name files, declarations, figures, settings, routes and commands: each of them must be there.
import { expect } from 'chai';
import { z } from 'zod';
import { ROUTES } from '../api/app.ts';
import { SETTING_DEFAULTS } from '../config/settings.ts';
import { TASK_FAILURES } from '../domain/failures.ts';
import { readDirectives } from '../sandbox/directives.ts';
import {
  anchorsOf,
  declares,
  exists,
  linksOf,
  markdownIn,
  proseOf,
  read,
  saysTheSame,
  valuesOf,
  wordsOfCode,
} from './support/documents.ts';

const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md', 'AGENTS.md', 'CHANGELOG.md', 'db/migrations/README.md'],
  ...markdownIn('docs'),
];
const README_LINES_MAX = 90;
const PROSE_CHARACTERS_MAX = 120;
/** Made from the catalogue and the sandbox, whose texts are as long as they are. */
const GENERATED = ['docs/models.md', 'docs/vendor-rules.md'];

const FILE = /(?<![\w@/.:-])((?:[\w.-]+\/)*[\w.-]+\.(?:ts|mjs|json|yml|yaml|md|sh|py))(?![\w/-])/g;
/** Made by `npm start` in the data folder, or an example of a name, as the capitals say. */
const MADE_AT_RUN_TIME = /(^|\/)(dev|demo)\.json$|NNN|FILE/;
/** `name` (`file.ts`), `name`, `file.ts` or `name` in `file.ts`: this file declares this name. */
const DECLARATION = /`([A-Za-z_]\w*)(?:\(\))?`(?: \(|, | in )`([\w./-]+\.ts)`/g;
/** 500 (`NAME`) or 1.5 seconds (`NAME_MS`): the constant, its member or the setting has this value. */
const FIGURE = /([\d.,]*\d)(?: (\w+))? \(`([A-Z][A-Z0-9_]+|[a-z]+[A-Z]\w+)`\)/g;
/** A name that only code can mean: `camelCase`, `PascalCase`, `UPPER_SNAKE`. */
const NAME = /`([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])`/g;

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')));
const words = wordsOfCode();

describe('the documents', () => {
  for (const path of DOCUMENTS) {
    // Paragraphs are wrapped anywhere, also between a name and its file.
    const text = read(path);
    const unwrapped = text.replaceAll(/\s*\n\s*/g, ' ');

    it(`${path} names files and folders that exist`, () => {
      const folder = path.slice(0, path.lastIndexOf('/') + 1);
      for (const [, file = ''] of text.replaceAll(/https?:\/\/\S+/g, '').matchAll(FILE))
        if (!MADE_AT_RUN_TIME.test(file))
          expect(exists(file) || exists(`${folder}${file}`), `${file} in ${path}`).to.equal(true);
      for (const [, room = ''] of text.matchAll(/`((?:[a-z0-9-]+\/)+)`/g))
        expect(exists(room), `${room} in ${path}`).to.equal(true);
    });

    it(`${path} links to pages and headings that exist`, () => {
      for (const { file, anchor } of linksOf(path)) {
        expect(exists(file), `${file} in ${path}`).to.equal(true);
        if (anchor !== '') expect(anchorsOf(file), `${file} from ${path}`).to.include(anchor);
      }
    });

    it(`${path} names declarations of the file it says, and names that the code has`, () => {
      for (const [, name = '', file = ''] of unwrapped.matchAll(DECLARATION)) {
        const full = exists(file) ? file : `${path.slice(0, path.lastIndexOf('/') + 1)}${file}`;
        expect(declares(full, name), `${name} in ${file}, says ${path}`).to.equal(true);
      }
      for (const [, name = ''] of unwrapped.matchAll(NAME))
        expect(words.has(name), `${name} in ${path}`).to.equal(true);
    });

    it(`${path} has the figures of the constants it names`, () => {
      for (const [told, figure = '', unit = '', name = ''] of unwrapped.matchAll(FIGURE)) {
        const values = valuesOf(name);
        const agrees = values.some((value) => saysTheSame(figure, unit, name, value));
        expect(agrees, `${told} in ${path}; the code has ${values.join(', ')}`).to.equal(true);
      }
    });

    it(`${path} names npm scripts that exist`, () => {
      for (const [, name = ''] of text.matchAll(/npm run ([a-z]+)/g))
        expect(scripts, `npm run ${name} in ${path}`).to.have.property(name);
    });

    it(`${path} names routes that exist`, () => {
      for (const [, method = '', url = ''] of text.matchAll(/\b(GET|POST|PATCH|DELETE) `?(\/[\w/:]+)/g)) {
        const isThere = ROUTES.some((route) => route.method === method && route.path === url);
        expect(isThere, `${method} ${url} in ${path}`).to.equal(true);
      }
      for (const [, url = ''] of text.matchAll(/\$BASE(\/[\w/$-]+)/g))
        expect(ROUTES.map((route) => route.path)).to.include(url.replaceAll(/\$\w+/g, ':id'));
    });

    it(`${path} names failure codes that exist`, () => {
      for (const [, code = ''] of text.matchAll(/`(upstream_\w+)`/g))
        expect(TASK_FAILURES, `${code} in ${path}`).to.have.property(code);
    });

    it(`${path} shows sandbox directives that the sandbox knows`, () => {
      for (const [directive] of text.matchAll(/\[\[sandbox [^\]]*\]\]/g))
        expect(() => readDirectives(directive), directive).not.to.throw();
    });

    it(`${path} is readable as plain text: tables without padding, sentences in lines of a screen’s width`, () => {
      for (const line of text.split('\n').filter((each) => each.startsWith('|')))
        expect(line, path).not.to.match(/ {2,}\||\| {2,}|-{4,}/);
      for (const line of GENERATED.includes(path) ? [] : proseOf(text))
        expect(line.length, line).to.be.at.most(PROSE_CHARACTERS_MAX);
    });
  }

  it('are all listed in docs/README.md', () => {
    const listed = linksOf('docs/README.md').map(({ file }) => file);
    expect(listed).to.include.members(markdownIn('docs').filter((path) => path !== 'docs/README.md'));
  });

  it('are numbered without gaps in docs/decisions, in title and file name alike', () => {
    const decisions = markdownIn('docs/decisions');
    const numbers = decisions.map((path) => Number(/\/(\d{3})-/.exec(path)?.[1]));
    expect(numbers).to.deep.equal(numbers.map((_, index) => index + 1));
    for (const [index, path] of decisions.entries())
      expect(read(path).startsWith(`# ${index + 1}. `), path).to.equal(true);
    for (const [, title = '', path = ''] of read('docs/README.md').matchAll(/\[(.*)\]\((decisions\/.*)\)/g))
      expect(read(`docs/${path}`).split('\n')[0], path).to.equal(`# ${title}`);
  });
});

describe('README.md', () => {
  const readme = read('README.md');

  it(`is read in ten minutes: at most ${README_LINES_MAX} lines`, () => {
    expect(readme.trimEnd().split('\n').length).to.be.at.most(README_LINES_MAX);
  });

  it('shows sandbox directives, requests, and every client in examples/', () => {
    expect(readme.match(/\[\[sandbox/g)).to.have.length.above(2);
    expect(readme.match(/\$BASE\//g)).to.have.length.above(2);
    for (const example of ['gateway.sh', 'client.ts', 'client.py'])
      expect(readme).to.contain(`examples/${example}`);
  });
});

describe('docs/glossary.md', () => {
  it('explains no word twice', () => {
    const terms = [...read('docs/glossary.md').matchAll(/\*\*([^*]+)\*\*/g)].map(([, term = '']) => term);
    expect(terms).to.have.length.above(100);
    expect(terms.filter((term, index) => terms.indexOf(term) !== index)).to.deep.equal([]);
  });
});

describe('docs/settings.md', () => {
  it('lists every setting with its default, and no other', () => {
    const rows = [...read('docs/settings.md').matchAll(/^\| (`[A-Z][^|]*) \| ([^|]*) \|/gm)].map(
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
});

describe('docs/sandbox.md', () => {
  it('lists keys and values that the sandbox knows', () => {
    const rows = [...read('docs/sandbox.md').matchAll(/^\| `(\w+)` \| ([^|]*) \|/gm)];
    expect(rows).to.have.length.above(8);
    for (const [, key = '', values = ''] of rows)
      for (const [, value = ''] of values.matchAll(/`(\w+)`/g))
        expect(() => readDirectives(`[[sandbox ${key}=${value}]]`), `${key}=${value}`).not.to.throw();
  });
});

describe('.nvmrc', () => {
  it('names the Node version of this project', () => {
    const { dependencies } = z
      .object({ dependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('package.json')));
    expect(read('.nvmrc').trim()).to.equal(dependencies['node']);
  });
});

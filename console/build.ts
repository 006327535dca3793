// Builds the console: bundles the sources with esbuild, names files by their content, compresses them beside.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build, type Metafile, type Plugin } from 'esbuild';
import { minify } from 'terser';
import { FIRST_LOADS, FRAME_READS } from './app/first-loads.ts';

export interface ConsoleBuild {
  /** Whether the code is made small, and compressed as far as it goes. Development does without. */
  isRelease: boolean;
}

/** What the API has to know to write the page; stands in `manifest.json` of the folder. */
export interface ConsoleManifest {
  /** The page, with `%BASE%` where the way to the console's root belongs. */
  page: string;
  /** What pages need when they are the first that is opened, beside what the page itself links. */
  firstLoads: { path: string; scripts: string[]; reads: string[] }[];
  /** Scripts with the texts of a language, by the language. English needs none. */
  languages: Record<string, string[]>;
  isRelease: boolean;
}

const SOURCES = import.meta.dirname;
const ENTRY_POINT = 'app/main.tsx';
const STYLES = 'style/console.css';
const COMPRESSED = /\.(js|css|svg)$/;
const BROTLI_FAST = 4;
/** Shorter blocks, each with codes of its own: 0.2 % smaller over all scripts than by the default of 8. */
const GZIP_MEM_LEVEL = 6;
const SHORTER = { module: true, ecma: 2020, compress: { passes: 2 } } as const;
const [gzipText, brotliText] = [promisify(gzip), promisify(brotliCompress)];

/**
 * Builds into the folder: `assets/` with hashed names, each file also as `.gz` and `.br`, and
 * `manifest.json`, which is written last and at once, so that a reader never sees half a build.
 */
export async function buildConsole(folder: string, { isRelease }: ConsoleBuild): Promise<Metafile> {
  const assets = join(folder, 'assets');
  mkdirSync(assets, { recursive: true });
  const { metafile } = await build({
    entryPoints: [ENTRY_POINT, STYLES],
    outdir: assets,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: ['es2022', 'chrome123', 'firefox121', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: isRelease,
    sourcemap: isRelease ? false : 'inline',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    define: { 'process.env.NODE_ENV': isRelease ? '"production"' : '"development"' },
    metafile: true,
    legalComments: 'none',
    charset: 'utf8',
    absWorkingDir: SOURCES,
    plugins: [SHARING],
    logLevel: 'silent',
  });
  if (isRelease) for (const path of Object.keys(metafile.outputs)) await shorten(join(SOURCES, path));
  const icon = readFileSync(join(SOURCES, 'icon.svg'));
  const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
  writeFileSync(join(assets, iconName), icon);
  const names = new Set([iconName, ...Object.keys(metafile.outputs).map(nameOf)]);
  for (const name of readdirSync(assets)) if (!names.has(name)) rmSync(join(assets, name));
  await Promise.all(
    [...names].filter((name) => COMPRESSED.test(name)).map((name) => compress(join(assets, name), isRelease)),
  );
  writeManifest(folder, {
    page: writePage(metafile, iconName, isRelease),
    firstLoads: FIRST_LOADS.map(({ path, source, reads = [] }) => ({
      path,
      scripts: source === null ? [] : scriptsOf(metafile, `pages/${source}.tsx`, 'texts/pages.ts'),
      reads: [...FRAME_READS, ...reads],
    })),
    languages: { zh: scriptsOf(metafile, 'texts/zh.ts') },
    isRelease,
  });
  return metafile;
}

/**
 * Links every page, and the texts of pages, to what pages share: esbuild would else cut a file for each set
 * of pages that share something.
 */
const SHARING: Plugin = {
  name: 'sharing',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/console\/(pages\/.*\.tsx|texts\/pages\.ts)$/ }, ({ path }) => ({
      contents: `import '${join(SOURCES, sharedBy(path))}';\n${readFileSync(path, 'utf8')}`,
      loader: 'tsx',
    }));
  },
};

function sharedBy(path: string): string {
  return /\/pages\/(tasks|login)\//.test(path) ? 'app/shared.ts' : 'app/shared-later.ts';
}

/** Writes a script that esbuild made small still shorter: all of them together have a budget. */
async function shorten(path: string): Promise<void> {
  if (!path.endsWith('.js')) return;
  const { code } = await minify(readFileSync(path, 'utf8'), SHORTER);
  if (code !== undefined) writeFileSync(path, code);
}

/** Compresses the file in both ways that browsers understand. */
async function compress(path: string, isRelease: boolean): Promise<void> {
  const bytes = readFileSync(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: isRelease ? constants.BROTLI_MAX_QUALITY : BROTLI_FAST };
  const [zipped, brotli] = await Promise.all([
    gzipText(bytes, { level: isRelease ? 9 : 1, memLevel: GZIP_MEM_LEVEL }),
    brotliText(bytes, { params }),
  ]);
  writeFileSync(`${path}.gz`, zipped);
  writeFileSync(`${path}.br`, brotli);
}

/** Fills the names of files into the page. What the entry imports is announced, so that all load at once. */
function writePage(metafile: Metafile, iconName: string, isRelease: boolean): string {
  const [entry = '', ...imported] = filesOf(metafile, ENTRY_POINT).map(nameOf);
  const [styles = ''] = filesOf(metafile, STYLES).map(nameOf);
  const preloads = imported.map((name) => `<link rel="modulepreload" href="%BASE%assets/${name}" />`);
  const values: Record<string, string> = {
    '%ENTRY%': entry,
    '%STYLES%': styles,
    '%ICON%': iconName,
    '%PRELOADS%': preloads.join('\n    '),
    '%MODE%': isRelease ? 'release' : 'development',
  };
  const page = readFileSync(join(SOURCES, 'index.html'), 'utf8');
  return page.replaceAll(/%[A-Z]+%/g, (name) => values[name] ?? name);
}

/** Names of the scripts that the sources need beyond those of the entry. */
function scriptsOf(metafile: Metafile, ...sources: string[]): string[] {
  const known = new Set(filesOf(metafile, ENTRY_POINT));
  const scripts = new Set(sources.flatMap((source) => filesOf(metafile, source)));
  return [...scripts].filter((path) => !known.has(path)).map(nameOf);
}

/** The file that was built from the source, and all files that it imports. */
function filesOf({ outputs }: Metafile, source: string): string[] {
  const first = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === source);
  if (first === undefined) throw new Error(`esbuild wrote no file of the console for ${source}.`);
  const files = new Set([first]);
  for (const file of files)
    for (const { path, kind } of outputs[file]?.imports ?? [])
      if (kind === 'import-statement') files.add(path);
  return [...files];
}

function nameOf(path: string): string {
  return path.split('/').at(-1) ?? '';
}

function writeManifest(folder: string, manifest: ConsoleManifest): void {
  const path = join(folder, 'manifest.json');
  writeFileSync(`${path}.new`, JSON.stringify(manifest));
  renameSync(`${path}.new`, path);
}

if (import.meta.main)
  await buildConsole(resolve(process.argv[2] ?? join(SOURCES, 'dist')), { isRelease: true });

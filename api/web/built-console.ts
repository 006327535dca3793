// Reads the built console from its folder: the page, and the files with hashed names, compressed beside.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { z } from 'zod';

export interface BuiltConsole {
  /** The page with its placeholders, and what it may announce; null when nothing is built. */
  manifest(): Manifest | null;
  /** The file in the best of these encodings; null for a name that is not part of the build. */
  file(name: string, accepts: (encoding: string) => boolean): BuiltFile | null;
}

export interface BuiltFile {
  contentType: string;
  /** The encoding of the bytes; null for none. */
  encoding: string | null;
  bytes: Buffer;
}

const NAMES = z.array(z.string());
const MANIFEST = z.object({
  page: z.string(),
  firstLoads: z.array(z.object({ path: z.string(), scripts: NAMES, reads: NAMES })),
  languages: z.record(z.string(), NAMES),
});
export type Manifest = z.infer<typeof MANIFEST>;
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** Encodings in the order of their worth, with the endings of their files. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Opens the folder. A build that replaces another is noticed at the next page that is asked for. */
export function openBuiltConsole(folder: string): BuiltConsole {
  const path = join(folder, 'manifest.json');
  let known: { writtenMs: number; manifest: Manifest; names: ReadonlySet<string> } | null = null;
  let files = new Map<string, Buffer>();

  const read = (): typeof known => {
    const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (writtenMs === undefined) return null;
    if (known?.writtenMs === writtenMs) return known;
    const manifest = MANIFEST.parse(JSON.parse(readFileSync(path, 'utf8')));
    files = new Map();
    return (known = { writtenMs, manifest, names: new Set(readdirSync(join(folder, 'assets'))) });
  };
  const load = (name: string): Buffer => {
    const bytes = files.get(name) ?? readFileSync(join(folder, 'assets', name));
    files.set(name, bytes);
    return bytes;
  };

  return {
    manifest: () => read()?.manifest ?? null,
    file: (name, accepts) => {
      const contentType = CONTENT_TYPES[extname(name)];
      const { names } = known ?? read() ?? {};
      if (contentType === undefined || !names?.has(name)) return null;
      const [encoding, ending] = ENCODINGS.find(
        ([encoding, ending]) => names.has(name + ending) && accepts(encoding),
      ) ?? [null, ''];
      return { contentType, encoding, bytes: load(name + ending) };
    },
  };
}

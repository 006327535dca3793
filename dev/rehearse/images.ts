// Sees to it that every image of the rehearsal is there: present, pulled, or made here as a stand-in.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Terminal } from '../terminal.ts';
import { run } from './engine.ts';
import { ADDITIONS, BASE, STAND_INS, type StandIn } from './stand-ins.ts';

/** Where an image came from. */
export interface ImageOrigin {
  image: string;
  /** What a stand-in is made of; null for the image of its maker. */
  standIn: string | null;
}

/** Marks what was made here, so that it can be told from an official image, and removed. */
export const LABEL = 'svc-gateway.stand-in';
const PULL_TIMEOUT_MS = 300_000;
const FIRST_PULL_TIMEOUT_MS = 60_000;

/** Provides the named images (`name:tag`) and those of the rehearsal itself. */
export async function provideImages(
  images: readonly string[],
  terminal: Terminal,
): Promise<readonly ImageOrigin[]> {
  const origins: ImageOrigin[] = [];
  let canPull = true;
  for (const image of images) {
    const known = (await originOf(image)) ?? (canPull ? await pull(image, origins.length === 0) : null);
    if (known === null) canPull = false;
    origins.push(known ?? (await makeStandIn(image, terminal)));
  }
  for (const addition of ADDITIONS) {
    const image = `${addition.image}:bookworm`;
    if ((await originOf(image)) === null) await make(addition, image, terminal);
  }
  return origins;
}

/** Null for an image that is not here. */
async function originOf(image: string): Promise<ImageOrigin | null> {
  const format = `{{with .Config.Labels}}{{index . "${LABEL}"}}{{end}}`;
  try {
    const label = (await run('docker', ['image', 'inspect', '--format', format, image])).trim();
    return { image, standIn: label === '' ? null : label };
  } catch {
    return null;
  }
}

async function pull(image: string, isFirst: boolean): Promise<ImageOrigin | null> {
  try {
    const timeoutMs = isFirst ? FIRST_PULL_TIMEOUT_MS : PULL_TIMEOUT_MS;
    await run('docker', ['pull', '--quiet', image], { timeoutMs });
    return { image, standIn: null };
  } catch {
    return null;
  }
}

async function makeStandIn(image: string, terminal: Terminal): Promise<ImageOrigin> {
  const [name] = image.split(':');
  const standIn = STAND_INS.find((one) => one.image === name);
  if (standIn === undefined) throw new Error(`${image} can be neither pulled nor made here.`);
  await make(standIn, image, terminal);
  return { image, standIn: standIn.about };
}

async function make(standIn: StandIn, image: string, terminal: Terminal): Promise<void> {
  if ((await originOf(BASE)) === null) await terminal.step(`${BASE} by debootstrap`, makeBase);
  const [, tag = ''] = image.split(':');
  await terminal.step(`${image}: ${standIn.about}`, () =>
    inFolder(async (folder) => {
      const files = join(folder, 'files');
      mkdirSync(files);
      await standIn.prepare(files, `v${tag}`, terminal.note);
      const dockerfile = join(import.meta.dirname, 'images', `${standIn.name}.Dockerfile`);
      cpSync(dockerfile, join(files, 'Dockerfile'));
      const label = `${LABEL}=${standIn.about}`;
      const args = ['build', '--network', 'host', '--label', label, '--tag', image, files];
      // The older builder asks no registry about images that are here.
      await run('docker', args, { env: { ...process.env, DOCKER_BUILDKIT: '0' } });
    }),
  );
}

/** Debian's smallest system, from the mirror in REHEARSE_DEBIAN_MIRROR or the one that debootstrap knows. */
async function makeBase(): Promise<void> {
  await inFolder(async (folder) => {
    const root = join(folder, 'root');
    const mirror = process.env['REHEARSE_DEBIAN_MIRROR'];
    const args = ['--variant=minbase', 'bookworm', root, ...(mirror === undefined ? [] : [mirror])];
    await run('debootstrap', args);
    const useless = ['var/cache/apt/archives', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/locale'];
    for (const path of useless) rmSync(join(root, path), { recursive: true, force: true });
    const change = `LABEL ${LABEL}=debootstrap`;
    await run('sh', [
      '-c',
      'tar -C "$1" -c . | docker import --change "$2" - "$3"',
      'import',
      root,
      change,
      BASE,
    ]);
  });
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-image-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// What stands in for an image that cannot be pulled: its Dockerfile, and the files it is made of.
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ensureTemporalBinary } from '../servers/temporal-binary.ts';
import { run } from './engine.ts';

export interface StandIn {
  /** Name of the Dockerfile in `images/`, and the beginning of what the image is called. */
  name: string;
  /** The image's name without its tag. */
  image: string;
  /** What it is made of, and how that differs from the official image. */
  about: string;
  /** Puts the files that the Dockerfile copies into the folder. */
  prepare: (folder: string, version: string, log: (message: string) => void) => Promise<void>;
}

export const BASE = 'svc-gateway-stand-in/debian:bookworm';
const IMAGES = join(import.meta.dirname, 'images');
const CERTIFICATES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt'];
const VERSITYGW = 'v1.8.0';
const none = (): Promise<void> => Promise.resolve();

/** Those of docker-compose.yml and its Dockerfile, then those that only the rehearsal adds. */
export const STAND_INS: readonly StandIn[] = [
  { name: 'node', image: 'node', about: 'the same Node from its npm package, on Debian', prepare: copyNode },
  {
    ...{ name: 'postgres', image: 'postgres', about: "Debian's PostgreSQL, another major version" },
    prepare: (folder) => copyTo(folder, { 'entrypoint.sh': join(IMAGES, 'postgres.sh') }),
  },
  { name: 'redis', image: 'redis', about: "Debian's Redis, another minor version", prepare: none },
  {
    ...{ name: 'temporal-server', image: 'temporalio/server', about: 'the same version, built with Go' },
    prepare: async (folder, version) => {
      const module = await downloadModule('go.temporal.io/server', version);
      await copyTo(folder, {
        'temporal-server': await buildProgram('go.temporal.io/server/cmd/server', version, 'server'),
        'entrypoint.sh': join(module, 'docker/scripts/sh/entrypoint.sh'),
      });
    },
  },
  {
    ...{ name: 'temporal-admin-tools', image: 'temporalio/admin-tools' },
    about: 'the schema tool of the same version, built with Go; a command line of the version of npm start',
    prepare: async (folder, version, log) => {
      const module = await downloadModule('go.temporal.io/server', version);
      await copyTo(folder, {
        temporal: await findProgram(await ensureTemporalBinary({ log })),
        'temporal-sql-tool': await buildProgram('go.temporal.io/server/cmd/tools/sql', version, 'sql'),
        schema: join(module, 'schema'),
      });
    },
  },
  {
    ...{ name: 'temporal-ui', image: 'temporalio/ui', about: 'the same version, built with Go' },
    prepare: async (folder, version) => {
      const path = 'github.com/temporalio/ui-server/v2';
      await copyTo(folder, {
        'ui-server': await buildProgram(`${path}/cmd/server`, version, 'server'),
        config: join(await downloadModule(path, version), 'config'),
      });
    },
  },
];

/** Images of the rehearsal alone; nothing official is meant by their names. */
export const ADDITIONS: readonly StandIn[] = [
  addition('nginx', "Debian's nginx", none),
  addition('prometheus', "Debian's Prometheus", none),
  addition('bucket', `versitygw ${VERSITYGW}, built with Go`, async (folder) =>
    copyTo(folder, {
      versitygw: await buildProgram('github.com/versity/versitygw/cmd/versitygw', VERSITYGW, 'versitygw'),
    }),
  ),
];

/** The certificates that this machine trusts, for what is fetched while images are built. */
export function machineCertificates(): string | null {
  const named = process.env['NODE_EXTRA_CA_CERTS'] ?? process.env['SSL_CERT_FILE'];
  return [named ?? '', ...CERTIFICATES].find((path) => path !== '' && existsSync(path)) ?? null;
}

function addition(name: string, about: string, prepare: StandIn['prepare']): StandIn {
  return { name, image: `svc-gateway-rehearsal/${name}`, about, prepare };
}

async function copyNode(folder: string): Promise<void> {
  const npm = process.env['npm_execpath'] ?? (await findProgram('npm'));
  const certificates = machineCertificates();
  if (certificates === null) throw new Error('This machine has no file of trusted certificates.');
  await copyTo(folder, { node: process.execPath, npm: dirname(dirname(npm)), 'ca.crt': certificates });
}

/** Copies files and folders under new names; programs stay executable for all users. */
async function copyTo(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, source] of Object.entries(files)) {
    cpSync(source, join(folder, name), { recursive: true, dereference: true });
    await run('chmod', ['-R', 'u+w,a+rX', join(folder, name)]);
  }
}

/** Builds a program of a Go module once, and keeps it in the user's cache folder. Returns its path. */
async function buildProgram(path: string, version: string, program: string): Promise<string> {
  const base = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(base, 'svc-gateway', 'rehearsal', `${path.replaceAll('/', '-')}-${version}`);
  const built = join(folder, program);
  if (existsSync(built)) return built;
  const building = `${folder}-new`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, GOBIN: building, CGO_ENABLED: '0' };
  await run('go', ['install', '-ldflags', '-s -w', `${path}@${version}`], { env });
  copyFileSync(join(building, program), built);
  chmodSync(built, 0o755);
  rmSync(building, { recursive: true, force: true });
  return built;
}

/** The folder of a Go module's sources. */
async function downloadModule(path: string, version: string): Promise<string> {
  const answer: unknown = JSON.parse(await run('go', ['mod', 'download', '-json', `${path}@${version}`]));
  if (typeof answer === 'object' && answer !== null && 'Dir' in answer && typeof answer.Dir === 'string')
    return answer.Dir;
  throw new Error(`Go does not say where ${path} is.`);
}

async function findProgram(command: string): Promise<string> {
  if (command.includes('/')) return command;
  const found = await run('sh', ['-c', `readlink -f "$(command -v ${command})"`]);
  return found.trim();
}

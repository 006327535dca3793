// Exchanges under load what processes trust: certificates, the key ring, and the clock of a machine.
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { parseEnv } from 'node:util';
import type { Drill } from './drill.ts';
import { run } from './engine.ts';
import { ENV_FILE, makeCertificate, makeRingKey, PROXY_PORT, ROOM } from './files.ts';
import { replaceProcesses } from './rolling.ts';
import type { Stage } from './stage.ts';

/** Debian's libfaketime, for programs of many threads. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
const AHEAD_SECONDS = 180;
const APART_MS = 20_000;
/**
 * What `secrets` says of rows that `rotate` has to encrypt again; hashes of API keys follow when the keys are
 * used.
 */
const ENCRYPTED =
  /needed by \d+ (task requests|submission results|second factors|answers kept for repeats|webhook secrets)/;
const SECOND = ['second-api', 'second-worker'];

/** Those that this machine can play: another clock needs libfaketime. */
export function exchangeDrills(): Drill[] {
  const clocks = {
    name: 'clocks apart',
    about: `the second API and worker ${AHEAD_SECONDS / 60} minutes ahead of all others, for ${APART_MS / 1000} s (libfaketime)`,
    disturb: setClocksApart,
  };
  return [
    {
      name: 'exchange certificates',
      about: 'a new certificate and key for the proxy and the vendors, read by reloading both',
      disturb: exchangeCertificates,
    },
    {
      name: 'rotate the secret key',
      about:
        'a new key behind the old one, then before it, each time all four processes replaced in turn; `admin rotate`',
      disturb: rotateSecretKey,
    },
    ...(existsSync(FAKETIME) ? [clocks] : []),
  ];
}

async function exchangeCertificates(stage: Stage): Promise<void> {
  const before = await readSerial();
  await makeCertificate(join(ROOM, 'tls'));
  for (const service of ['proxy', 'vendors'])
    await run('docker', ['exec', await stage.container(service), 'nginx', '-s', 'reload']);
  await sleep(1_000); // nginx starts its new workers beside the old ones
  if ((await readSerial()) === before) throw new Error('the proxy shows the certificate of before');
}

/** Serial number of the certificate that the proxy shows. */
async function readSerial(): Promise<string> {
  return new Promise((resolveSerial, reject) => {
    const ca = readFileSync(join(ROOM, 'tls', 'ca.crt'));
    const socket = connect({ host: '127.0.0.1', port: PROXY_PORT, servername: 'localhost', ca }, () => {
      const { raw } = socket.getPeerCertificate();
      socket.destroy();
      resolveSerial(new X509Certificate(raw).serialNumber);
    });
    socket.once('error', reject);
  });
}

/** The steps of docs/operation.md, up to the moment at which the old key may leave. */
async function rotateSecretKey(stage: Stage): Promise<void> {
  const ring = parseEnv(readFileSync(ENV_FILE, 'utf8'))['SVC_SECRET_KEYS'] ?? '';
  const id = `k${ring.split(',').length + 1}`;
  const key = makeRingKey(id);
  for (const next of [`${ring},${key}`, `${key},${ring}`]) {
    const lines = readFileSync(ENV_FILE, 'utf8').replace(/^SVC_SECRET_KEYS=.*$/m, `SVC_SECRET_KEYS=${next}`);
    writeFileSync(ENV_FILE, lines);
    await replaceProcesses(stage);
  }
  const once = ['run', '--rm', '-T', '--no-deps', 'worker', 'node'];
  const said = await stage.compose(...once, 'cli/admin.ts', 'rotate');
  if (!said.includes(`encrypted again with key "${id}"`)) throw new Error(`rotate said: ${said}`);
  const needed = await stage.compose(...once, 'cli/db.ts', 'secrets');
  if (ENCRYPTED.test(needed)) throw new Error(`after rotate, ${needed}`);
}

async function setClocksApart(stage: Stage): Promise<void> {
  const file = resolve(ROOM, 'clocks.yml');
  const ahead = {
    environment: {
      LD_PRELOAD: '/usr/lib/faketime.so',
      FAKETIME: `+${AHEAD_SECONDS}`,
      // What measures durations goes on as it is.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    volumes: [`${FAKETIME}:/usr/lib/faketime.so:ro`],
  };
  writeFileSync(file, JSON.stringify({ services: Object.fromEntries(SECOND.map((name) => [name, ahead])) }));
  const bring = async (...files: string[]): Promise<void> => {
    await stage.compose(...files, 'up', '--detach', '--no-deps', '--no-build', ...SECOND);
    for (const service of SECOND) await stage.untilHealthy(service);
    await stage.reloadProxy();
  };
  await bring('--file', file);
  try {
    for (const service of SECOND) {
      const said = await run('docker', ['exec', await stage.container(service), 'date', '+%s']);
      const aheadSeconds = Number(said) - Date.now() / 1000;
      if (Math.abs(aheadSeconds - AHEAD_SECONDS) > 10)
        throw new Error(`${service} is ${aheadSeconds} s ahead`);
    }
    await sleep(APART_MS);
  } finally {
    await bring();
  }
}

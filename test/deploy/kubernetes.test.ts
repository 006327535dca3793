// The manifests for Kubernetes fit the code and docker-compose.yml, and keep the schemas of Kubernetes.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../config/config.ts';
import { SETTING_DEFAULTS } from '../../config/settings.ts';
import { installPackage } from '../sandbox/sdk/python.ts';

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '../..');
const FOLDER = join(PROJECT, 'deploy/kubernetes');
const VALIDATOR = 'kubernetes-validate==1.37.0';
const INSTALL_LIMIT_MS = 250_000;
/** Secrets that docs/operation.md tells to make, with what they hold. */
const SECRETS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  gateway: {
    DATABASE_URL: 'postgres://svc_app:secret@db:5432/gateway',
    SVC_SECRET_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64url')}`,
    SVC_S3_ACCESS_KEY_ID: 'id',
    SVC_S3_SECRET_ACCESS_KEY: 'secret',
    OPENAI_API_KEY: 'secret',
  },
  'gateway-owner': { SVC_DATABASE_OWNER_URL: 'postgres://gateway:secret@db:5432/gateway' },
  'gateway-redis': { REDIS_URL: 'redis://:secret@redis:6379' },
};

const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const container = z.object({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()),
  env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
  envFrom: z.array(
    z.union([
      z.object({ configMapRef: z.object({ name: z.string() }) }),
      z.object({ secretRef: z.object({ name: z.string() }) }),
    ]),
  ),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
  resources: z.object({ limits: z.object({ memory: z.string() }) }),
  securityContext: z.object({
    allowPrivilegeEscalation: z.boolean(),
    readOnlyRootFilesystem: z.boolean(),
    capabilities: z.object({ drop: z.array(z.string()) }),
  }),
});
const workload = z.object({
  kind: z.enum(['Deployment', 'Job']),
  spec: z.object({
    template: z.object({
      spec: z.object({
        automountServiceAccountToken: z.boolean(),
        enableServiceLinks: z.boolean(),
        terminationGracePeriodSeconds: z.number().optional(),
        securityContext: z.object({ runAsNonRoot: z.boolean() }),
        containers: z.tuple([container]),
      }),
    }),
  }),
});
const resource = z.looseObject({ kind: z.string(), metadata: z.object({ name: z.string() }) });
const service = z.looseObject({
  image: z.string(),
  command: z.array(z.string()).default([]),
  mem_limit: z.string(),
  stop_grace_period: z.string().optional(),
});
const compose = z
  .object({ services: z.record(z.string(), service) })
  .parse(parse(readFileSync(join(PROJECT, 'docker-compose.yml'), 'utf8'), { merge: true })).services;

const files = readdirSync(FOLDER).map((file) => join(FOLDER, file));
const resources = files.flatMap((file) =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => resource.parse(document.toJS())),
);
const pods = resources
  .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
  .map((one) => workload.parse(one).spec.template.spec);
const containers = pods.map(({ containers: [only] }) => only);

describe('deploy/kubernetes', () => {
  it('has no fault in the schemas of Kubernetes, where the validator can be installed', async function () {
    this.timeout(INSTALL_LIMIT_MS);
    const installed = await installPackage(VALIDATOR);
    if (installed.kind === 'missing') {
      process.stderr.write(`skipped, since it cannot be installed: ${installed.why}\n`);
      this.skip();
    }
    const env = { ...process.env, PYTHONPATH: installed.folder, PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout } = await run('python3', ['-m', 'kubernetes_validate', '--strict', ...files], { env });
    expect(stdout.match(/ passed for resource /g) ?? []).to.have.lengthOf(resources.length);
  });

  it('runs the programs of docker-compose.yml, with its image, memory and time to stop', () => {
    expect(containers.map(({ name }) => name)).to.have.members(['migrate', 'api', 'worker']);
    for (const { terminationGracePeriodSeconds: grace, containers: only } of pods) {
      const [{ name, image, command, resources: bounds }] = only;
      const same = compose[name];
      expect(command, name).to.deep.equal(same?.command);
      expect(image, name).to.equal(same?.image);
      expect(bounds.limits.memory, name).to.equal(same?.mem_limit.replace('g', 'Gi'));
      if (name !== 'migrate') expect(`${grace}s`, name).to.equal(same?.stop_grace_period);
    }
  });

  it('gives the processes settings only, and all that production needs', () => {
    for (const one of containers) {
      const settings = settingsOf(one);
      for (const name of Object.keys(settings))
        expect(SETTING_DEFAULTS.has(name) || name.startsWith('TEMPORAL_'), name).to.equal(true);
      const config = loadConfig(settings);
      expect(config.production, one.name).to.equal(true);
      expect(config.internalHost, one.name).to.equal('0.0.0.0');
      expect(config.storage.kind, one.name).to.equal('s3');
    }
  });

  it('gives the address of Redis to the API alone, and the owner of the tables to the migrations alone', () => {
    const holders = (setting: string): string[] =>
      containers.filter((one) => settingsOf(one)[setting] !== undefined).map(({ name }) => name);
    expect(holders('REDIS_URL')).to.deep.equal(['api']);
    expect(holders('SVC_DATABASE_OWNER_URL')).to.deep.equal(['migrate']);
    expect(holders('SVC_WORKER_GRACE_SECONDS')).to.deep.equal(['worker']);
  });

  it('holds no password and no key', () => {
    expect(resources.filter(({ kind }) => kind === 'Secret')).to.deep.equal([]);
    const secret = new Set(Object.values(SECRETS).flatMap((held) => Object.keys(held)));
    const open = [
      ...Object.keys(settingsInTheOpen()),
      ...containers.flatMap(({ env }) => env.map((one) => one.name)),
    ];
    expect(open.filter((name) => secret.has(name) || /KEY|PASSWORD|SECRET/.test(name))).to.deep.equal([]);
  });

  it('asks for health where the processes answer it', () => {
    for (const one of containers.filter(({ name }) => name !== 'migrate')) {
      const config = loadConfig(settingsOf(one));
      const port = one.ports.find(({ name }) => name === 'internal')?.containerPort;
      expect(port, one.name).to.equal(one.name === 'api' ? config.internalPort : config.workerInternalPort);
      expect(one.readinessProbe?.httpGet).to.deep.equal({ path: '/readyz', port: 'internal' });
      expect(one.livenessProbe?.httpGet).to.deep.equal({ path: '/livez', port: 'internal' });
    }
  });

  it('runs without root, without capabilities, on a read-only root', () => {
    for (const pod of pods) {
      const [{ name, securityContext: context }] = pod.containers;
      expect(pod.securityContext.runAsNonRoot, name).to.equal(true);
      expect([pod.automountServiceAccountToken, pod.enableServiceLinks], name).to.deep.equal([false, false]);
      expect(context, name).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });
});

function settingsInTheOpen(): Record<string, string> {
  const found = resources.find(({ kind }) => kind === 'ConfigMap');
  return z.record(z.string(), z.string()).parse(found?.['data']);
}

/** What a container finds in its environment, with the secrets filled in. */
function settingsOf({ env, envFrom }: z.infer<typeof container>): Record<string, string> {
  const sources = envFrom.map((source) =>
    'configMapRef' in source ? settingsInTheOpen() : (SECRETS[source.secretRef.name] ?? {}),
  );
  return Object.assign({}, ...sources, ...env.map(({ name, value }) => ({ [name]: value })));
}

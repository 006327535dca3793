// A whole gateway for one test file: its own database, engine namespace, sandbox, API and worker, in this
// process.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createApp } from '../../../api/app.ts';
import { createHttpServer } from '../../../api/http/http-server.ts';
import { securityHeaders } from '../../../api/middleware/security-headers.ts';
import { openServices } from '../../../api/open-services.ts';
import { loadConfig, type Config } from '../../../config/config.ts';
import { createApiKey } from '../../../db/keys/api-keys.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { grantOnce } from '../credits.ts';
import { createSession } from '../../../db/identity/sessions.ts';
import type { Secrets } from '../../../db/secrets.ts';
import { createUser } from '../../../db/identity/users.ts';
import { sandboxSettings } from '../../../dev/system/sandbox-settings.ts';
import { startSandbox } from '../../../sandbox/server.ts';
import { parseCredits } from '../../../domain/credits.ts';
import { createLog } from '../../../log.ts';
import { startWebhookOutbox } from '../../../worker/webhooks.ts';
import { dependenciesOf } from './activity-dependencies.ts';
import { createTestWorkers, createWorkerSwitch, type TestWorkerOptions } from './worker-switch.ts';
import { openDatabase } from '../../../db/open-database.ts';
import { createDatabase } from './database.ts';
import { createActor, type Actor } from '../http/http.ts';
import { createNamespace } from './temporal-namespace.ts';
import { forkEm, type Database, type Em } from '../../../db/database.ts';
import type { Services } from '../../../api/services.ts';

export interface TestUser {
  id: string;
  email: string;
  password: string;
  keyId: string;
  apiKey: string;
  /** Sends requests with the user's API key, as for /v1. */
  key: Actor;
  /** Sends requests with the user's session cookie, as for /api. */
  session: Actor;
  /** Puts the user's sessions into the state after /api/verify, for five minutes. */
  verify(): Promise<void>;
}

export interface TestGateway {
  baseUrl: string;
  sandboxUrl: string;
  /** The database as the gateway uses it, by a user who owns none of its tables. */
  database: Database;
  secrets: Secrets;
  config: Config;
  services: Services;
  /** The environment that a process of its own would need to be part of this gateway. */
  env: Record<string, string>;
  anonymous: Actor;
  /** All log lines as one text. */
  logged(): string;
  /** For what the test itself reads and changes, as the owner of the tables. */
  em(): Em;
  createUser(credits?: string | number): Promise<TestUser>;
  /** Fails unless the ledger adds up. */
  expectSoundMoney(): Promise<void>;
  stopWorker(): Promise<void>;
  startWorker(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestGatewayOptions extends TestWorkerOptions {
  /** Settings in addition to the usual ones, or instead of them. */
  env?: Record<string, string>;
  /** `false` when the test starts the worker itself, or as a process of its own. */
  worker?: boolean;
}

const PASSWORD = 'correct horse battery';
const VERIFY = `
  update session
  set verified_at = now(), verify_method = 'password', verified_until = now() + interval '5 minutes'
  where user_id = ?`;
/** High limits, because all tests of a file share an address and often a user. */
const HIGH_LIMITS = {
  SVC_LIMIT_CHAT: '1000000/60',
  SVC_LIMIT_CREATE: '1000000/60',
  SVC_LIMIT_READ: '1000000/60',
  SVC_LIMIT_UPLOAD: '1000000/60',
  SVC_LIMIT_WEBHOOK: '1000000/60',
  SVC_LIMIT_AUTH: '1000000/60',
  SVC_LIMIT_STRAY: '1000000/60',
};

export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const name = `test-${randomBytes(6).toString('hex')}`;
  const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const [stored, sandbox] = await Promise.all([
    createDatabase(),
    startSandbox({ port: 0, host: '127.0.0.1' }),
    createNamespace(address, name),
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-storage-'));
  const env = {
    ...createEnvironment({ databaseUrl: stored.processUrl, temporal: { address, namespace: name }, folder }),
    ...sandboxSettings(sandbox.url),
    ...options.env,
  };
  const config = loadConfig(env);
  const lines: string[] = [];
  const log = createLog(
    { process: 'test', level: 'info' },
    { write: (line: string) => void lines.push(line) },
  );
  const database = openDatabase({ url: stored.processUrl, connectionsMax: config.databaseConnectionsMax });
  const services = openServices(config, database, log, { tracing: options.tracing ?? null });
  await services.limits.start();
  const { server } = createHttpServer(createApp(services), {
    headers: () => securityHeaders(services),
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = (server.address() as { port: number }).port;
  const baseUrl = `http://127.0.0.1:${port}`;
  services.publicUrl = () => baseUrl;

  const { startWorker, stopWorker } = createWorkerSwitch(
    () => createTestWorkers(config, services, log, options),
    () =>
      startWebhookOutbox({
        dependencies: dependenciesOf(config, services, options.webhooks),
        runs: services.taskWorkflows,
        log,
      }),
  );
  if (options.worker !== false) await startWorker();

  return {
    baseUrl,
    sandboxUrl: sandbox.url,
    database,
    secrets: services.secrets,
    config,
    services,
    env,
    anonymous: createActor(
      () => baseUrl,
      () => ({}),
    ),
    logged: () => lines.join(''),
    em: () => forkEm(stored.database),
    createUser: (credits) => createTestUser(services, baseUrl, credits),
    expectSoundMoney: async () => {
      expect(await findViolations(forkEm(stored.database))).to.deep.equal([]);
    },
    startWorker,
    stopWorker,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await stopWorker();
      services.limits.stop();
      await services.taskStarts.drain(10_000);
      await services.taskWorkflows.close();
      await sandbox.close();
      await database.close();
      await stored.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The settings of a gateway that shares nothing with those of other test files but the servers. */
function createEnvironment(parts: {
  databaseUrl: string;
  temporal: { address: string; namespace: string };
  folder: string;
}): Record<string, string> {
  return {
    NODE_ENV: 'test',
    PORT: '0',
    SVC_INTERNAL_PORT: '0',
    SVC_WORKER_INTERNAL_PORT: '0',
    SVC_DRAIN_SECONDS: '0',
    SVC_OVERLOAD_DELAY_MS: '20000', // so that a machine busy with other tests does not count as overloaded
    DATABASE_URL: parts.databaseUrl,
    TEMPORAL_ADDRESS: parts.temporal.address,
    TEMPORAL_NAMESPACE: parts.temporal.namespace,
    SVC_DATA_DIR: parts.folder,
    ...HIGH_LIMITS,
    SVC_SECRET_KEYS: `test:${randomBytes(32).toString('base64url')}`,
  };
}

async function createTestUser(
  services: Services,
  baseUrl: string,
  credits: string | number = 1000,
): Promise<TestUser> {
  const em = forkEm(services.database);
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  const id = await createUser(em, { email, password: PASSWORD, permissions: [] });
  if (!id) throw new Error('the test user could not be created');
  const amount = parseCredits(credits);
  if (amount > 0n)
    await grantOnce(em, { userId: id, amount, idempotencyKey: `test:${id}`, description: 'Test credits' });
  const { key: apiKey, id: keyId } = await createApiKey(em, services.secrets, {
    userId: id,
    name: 'Test key',
  });
  const token = await createSession(em, services.secrets, id);
  const url = (): string => baseUrl;
  return {
    id,
    email,
    password: PASSWORD,
    keyId,
    apiKey,
    key: createActor(url, () => ({ authorization: `Bearer ${apiKey}` })),
    session: createActor(url, () => ({ cookie: `svc_session=${token}` })),
    verify: async () => {
      await forkEm(services.database).execute(VERIFY, [id]);
    },
  };
}

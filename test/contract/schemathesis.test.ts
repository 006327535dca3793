// Schemathesis, a judge of HTTP APIs by their OpenAPI document, finds nothing to complain about in any phase.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createApiKey } from '../../db/keys/api-keys.ts';
import { createSession } from '../../db/identity/sessions.ts';
import { DOCUMENT_ROUTE } from '../../api/openapi/paths.ts';
import { DOCUMENT } from '../../dev/documented.ts';
import { PERMISSIONS } from '../../domain/permissions.ts';
import { installPackage } from '../sandbox/sdk/python.ts';
import { setPermissions, setVerified } from '../support/administrators.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';

const REQUIREMENT = 'schemathesis==4.32.5';
const INSTALL_LIMIT_MS = 250_000;
/** Ends a run that hangs: one takes a minute on a machine with nothing else to do, and some on others. */
const RUN_LIMIT_MS = 1_200_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** Where the random choices begin: the same for every run, so that a run can be repeated. */
const SEED = process.env['CONTRACT_SEED'] ?? '1';
/** Generated requests of each operation when it is fuzzed, and walks from operation to operation. */
const EXAMPLES_MAX = process.env['CONTRACT_EXAMPLES'] ?? '5';
const CREDITS = 1_000_000;

describe('the contract, judged by Schemathesis', () => {
  let gateway: TestGateway;
  let packages = '';

  before(`installs ${REQUIREMENT}`, async function () {
    this.timeout(INSTALL_LIMIT_MS);
    const installed = await installPackage(REQUIREMENT);
    if (installed.kind === 'missing') {
      process.stderr.write(`skipped, since it cannot be installed: ${installed.why}\n`);
      this.skip();
    }
    packages = installed.folder;
    gateway = await startGateway();
  });
  after(() => gateway?.stop());

  it('is kept by every route, with a key and with a session, in every phase', async () => {
    const user = await gateway.createUser(CREDITS);
    const callers = await serveCallers(gateway, user);
    try {
      const { code, report } = await judge(gateway.baseUrl, callers);
      expect(code, report).to.equal(0);
      expect(testedOperations(report), report).to.equal(describedOperations());
      await gateway.expectSoundMoney();
    } finally {
      callers.close();
    }
  }).timeout(RUN_LIMIT_MS);

  async function judge(baseUrl: string, callers: Server): Promise<{ code: number; report: string }> {
    const args = [
      ...['-m', 'schemathesis.cli', '--config-file', join(import.meta.dirname, 'schemathesis.toml'), 'run'],
      ...[`${baseUrl}/openapi.json`, '--seed', SEED, '--max-examples', EXAMPLES_MAX],
      ...['--continue-on-failure', '--no-shrink', '--no-color'],
    ];
    const env = {
      ...process.env,
      PYTHONPATH: [packages, import.meta.dirname].join(delimiter),
      SCHEMATHESIS_HOOKS: 'hooks',
      PYTHONDONTWRITEBYTECODE: '1',
      NO_PROXY: '127.0.0.1',
      CONTRACT_CALLERS_URL: `http://127.0.0.1:${(callers.address() as AddressInfo).port}`,
    };
    return new Promise((resolve) => {
      execFile(
        'python3',
        args,
        { cwd: tmpdir(), env, maxBuffer: OUTPUT_BYTES_MAX },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
          resolve({ code, report: `${stdout}\n${stderr}` });
        },
      );
    });
  }
});

/**
 * Answers each request with a new key and a new, verified session of the user: the judge ends sessions,
 * revokes keys and takes permissions away.
 */
async function serveCallers(gateway: TestGateway, user: TestUser): Promise<Server> {
  const server = createServer((_req, res) => {
    void makeCallers(gateway, user).then(
      (callers) => res.end(JSON.stringify(callers)),
      (error: unknown) => res.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function makeCallers(
  gateway: TestGateway,
  user: TestUser,
): Promise<{ apiKey: string; session: string }> {
  const em = gateway.em();
  await em.execute(sql`update app_user set disabled_at = null where id = ${user.id}`);
  await setPermissions(gateway, user, PERMISSIONS);
  const session = await createSession(em, gateway.secrets, user.id);
  await setVerified(gateway, user, true);
  const { key } = await createApiKey(em, gateway.secrets, { userId: user.id, name: 'Judge' });
  return { apiKey: key, session };
}

/** How many operations there are to judge: all but the document itself, which Schemathesis leaves out. */
function describedOperations(): number {
  const judged = Object.entries(DOCUMENT.paths).filter(([path]) => path !== DOCUMENT_ROUTE);
  return judged.reduce((sum, [, methods]) => sum + Object.keys(methods).length, 0);
}

function testedOperations(report: string): number {
  return Number(/Tested: (\d+)/.exec(report)?.[1]);
}

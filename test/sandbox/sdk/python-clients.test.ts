// The clients of Volcengine (Ark) and Alibaba (DashScope) for Python find in the sandbox what they expect.

import { expect } from 'chai';
import { installPackage, runScript } from './python.ts';
import { type Json, newPrompt, useSandbox } from '../support.ts';

const INSTALL_LIMIT_MS = 250_000;

interface Client {
  title: string;
  requirement: string;
  script: string;
  path: string;
  expected: Json;
}

const CLIENTS: readonly Client[] = [
  {
    title: "Volcengine's own client",
    requirement: 'volcengine-ark-runtime==5.0.54',
    script: 'seedance.py',
    path: '/ark/api/v3',
    expected: {
      done: ['succeeded', 'mine', 5, 108_900],
      failed: ['failed', 'OutputVideoSensitiveContentDetected'],
      cancelled: 'cancelled',
      listed: [true],
      total: 1,
      bad_duration: ['ArkBadRequestError', 400, 'InvalidParameter'],
      bad_key: ['ArkAuthenticationError', 401, 'AuthenticationError'],
      unknown: ['ArkNotFoundError', 404, 'ResourceNotFound'],
      limited: ['ArkRateLimitError', 429, 'RateLimitExceeded.EndpointRPMExceeded'],
    },
  },
  {
    title: "Alibaba's own client",
    requirement: 'dashscope==2.0.2',
    script: 'wan.py',
    path: '/dashscope/api/v1',
    expected: {
      created: [200, 'PENDING'],
      done: ['SUCCEEDED', 4],
      failed: [200, 'FAILED', 'DataInspectionFailed'],
      cancelled: [200, 'CANCELED'],
      late: [400, 'UnsupportedOperation'],
      listed: 200,
      bad_duration: [400, 'InvalidParameter'],
      limited: [429, 'Throttling.RateQuota'],
    },
  },
];

for (const { title, requirement, script, path, expected } of CLIENTS)
  describe(`sandbox: ${title}`, () => {
    const sandbox = useSandbox();
    let folder = '';

    before(`installs ${requirement}`, async function () {
      this.timeout(INSTALL_LIMIT_MS);
      const installed = await installPackage(requirement);
      if (installed.kind === 'installed') folder = installed.folder;
      else {
        process.stderr.write(`skipped, since it cannot be installed: ${installed.why}\n`);
        this.skip();
      }
    });

    it('orders, waits, lists, cancels and reads refusals', async () => {
      const { url, ...printed } = await runScript(
        folder,
        script,
        `${sandbox().url}${path}`,
        newPrompt().marker,
      );
      expect(printed).to.deep.equal(expected);
      expect((await fetch(String(url))).headers.get('content-type')).to.equal('video/mp4');
    });
  });

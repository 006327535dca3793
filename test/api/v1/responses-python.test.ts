// POST /v1/responses with OpenAI's client for Python, at upstreams that speak Responses and at others.
import { expect } from 'chai';
import { CHAT_MODEL } from '../../support/chat.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { catalogWithTranslatedModel, TRANSLATED_MODEL } from '../../support/responses.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { installPackage, runScript } from '../../sandbox/sdk/python.ts';

const PYTHON_LIMIT_MS = 300_000;

describe('Responses with OpenAI’s client for Python', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: catalogWithTranslatedModel(cleanup) });
    cleanup.later(() => gateway.stop());
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());
  after(() => cleanup.run());

  it('answers, streams, runs a loop of tools, parses, and maps errors', async function () {
    this.timeout(PYTHON_LIMIT_MS);
    const installed = await installPackage('openai==3.52.0');
    if (installed.kind === 'missing') {
      process.stderr.write(`skipped, since it cannot be installed: ${installed.why}\n`);
      this.skip();
    }
    for (const model of [CHAT_MODEL, TRANSLATED_MODEL]) {
      const words = [`${gateway.baseUrl}/v1`, owner.apiKey, model];
      expect(await runScript(installed.folder, '../../api/v1/openai_responses.py', ...words)).to.deep.equal({
        whole: ['the quick brown', 3, true],
        streamed: 'the quick brown fox',
        final: 'the quick brown fox',
        loop: ['weather', 'the quick'],
        parsed: true,
        refused: ['BadRequestError', 'content_rejected'],
        stored: ['BadRequestError', 'store'],
        in_stream: 'upstream_error',
      });
    }
  });
});

// A text model with several upstreams: which ones are asked, in which order, and when the next one follows.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../../../config/config.ts';
import { findFreePort } from '../../../dev/servers/ports.ts';
import { createChatUpstreams } from '../../../providers/chat/chat.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { eventsIn, lastCall, openStream, readCalls, say } from '../../support/chat.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { readJournal } from '../../support/servers/sandbox.ts';
import { uniqueWord } from '../../support/tasks.ts';

const AT_OPENAI = { family: 'openai', upstreamModel: 'gpt-6-luna' };
const AT_XAI = { family: 'grok', upstreamModel: 'grok-5', priority: 2 };
const IN_A_CLOSED_HOUSE = { family: 'closed-house', upstreamModel: 'luna', priority: 1 };

describe('a model at several upstreams', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-catalog-'));
    cleanup.later(async () => rmSync(folder, { recursive: true, force: true }));
    const { models, ...rest } = JSON.parse(readFileSync('catalog.json', 'utf8'));
    const luna = models.find(({ id }: { id: string }) => id === 'gpt-6-luna');
    const own = [
      { ...luna, id: 'pair', upstreams: [AT_XAI, AT_OPENAI] },
      { ...luna, id: 'behind-a-closed-door', upstreams: [IN_A_CLOSED_HOUSE, AT_XAI] },
      { ...luna, id: 'closed-house-only', family: 'closed-house', upstreams: [IN_A_CLOSED_HOUSE] },
    ];
    writeFileSync(join(folder, 'catalog.json'), JSON.stringify({ ...rest, models: [...models, ...own] }));
    gateway = await startGateway({
      worker: false,
      env: {
        SVC_CATALOG: join(folder, 'catalog.json'),
        OPENAI_API_KEY: 'first,second',
        CLOSED_HOUSE_BASE_URL: `http://127.0.0.1:${await findFreePort()}/v1`,
        CLOSED_HOUSE_API_KEY: 'key',
        SVC_UPSTREAM_TIMEOUT_SECONDS: '1',
      },
    });
    cleanup.later(() => gateway.stop());
  });
  after(() => cleanup.run());
  beforeEach(async () => {
    owner = await gateway.createUser();
    // As after a start, no upstream is known to fail.
    gateway.services.chat.upstreams = createChatUpstreams(gateway.config);
  });
  afterEach(() => gateway.expectSoundMoney());

  const post = (directive: string, { model = 'pair', word = uniqueWord() } = {}) =>
    owner.key.post('/v1/chat/completions', { model, messages: say(directive, word) });

  const stream = async (directive: string, word = uniqueWord()): Promise<Response> =>
    openStream(gateway.baseUrl, owner, { directive, word, fields: { model: 'pair' } });

  /** The upstreams tried by the last call, such as `openai transient, grok accepted`. */
  async function tried(): Promise<string> {
    const calls = (await readCalls(gateway, owner)).at(-1)?.tried ?? [];
    return calls.map(({ family, outcome }) => `${family} ${outcome}`).join(', ');
  }

  async function vendorsOf(word: string): Promise<string[]> {
    return (await readJournal(gateway.sandboxUrl, word)).map(({ vendor }) => vendor);
  }

  it('is asked for at the one with the first priority, and answered under its own name', async () => {
    const { status, body } = await post('');
    expect([status, body.model]).to.deep.equal([200, 'pair']);
    expect(await tried()).to.equal('openai accepted');
  });

  describe('the next one is asked', () => {
    const cases: [directive: string, tried: string][] = [
      ['submit=401*2', 'openai auth, openai auth, grok accepted'],
      ['submit=402*2', 'openai quota, openai quota, grok accepted'],
      ['submit=429*2', 'openai rate, openai rate, grok accepted'],
      ['submit=503*2', 'openai transient, openai transient, grok accepted'],
      ['submit=500*2', 'openai transient, openai transient, grok accepted'],
      ['submit=reset*1', 'openai transient, openai accepted'],
      ['outcome=fail*1 reason=quota', 'openai quota, openai accepted'],
    ];
    for (const [directive, expected] of cases)
      it(`after ${directive}, whole and streamed`, async () => {
        const { status, body } = await post(directive);
        expect(status, JSON.stringify(body)).to.equal(200);
        expect(await tried()).to.equal(expected);
        expect(await lastCall(owner)).to.include({ status: 'completed', billingBasis: 'upstream' });
        gateway.services.chat.upstreams = createChatUpstreams(gateway.config);
        const response = await stream(directive);
        expect(eventsIn(await response.text()).at(-1)).to.equal('[DONE]');
        expect(await tried()).to.equal(expected);
      });

    it('when nobody is there at all', async () => {
      const { status, body } = await post('', { model: 'behind-a-closed-door' });
      expect([status, body.model]).to.deep.equal([200, 'behind-a-closed-door']);
      expect(await tried()).to.equal('closed-house transient, grok accepted');
    });

    it('when a stream is accepted and cut before anything of it came', async () => {
      const response = await stream('die_after=0*1');
      expect(eventsIn(await response.text()).at(-1)).to.equal('[DONE]');
      expect(await tried()).to.equal('openai transient, openai accepted');
      expect(await readCalls(gateway, owner)).to.have.length(1);
    });

    it('when a stream is none', async () => {
      const response = await stream('submit=html*1');
      expect(eventsIn(await response.text()).at(-1)).to.equal('[DONE]');
      expect(await tried()).to.equal('openai invalid_response, openai accepted');
    });
  });

  describe('the next one is not asked', () => {
    const cases: [directive: string, status: number, code: string][] = [
      ['submit=400', 400, 'upstream_rejected'],
      ['outcome=fail reason=moderation', 400, 'content_rejected'],
      ['submit=hang', 504, 'upstream_timeout'],
    ];
    for (const [directive, status, code] of cases)
      it(`after ${directive}: ${status} ${code}`, async () => {
        const word = uniqueWord();
        expectError(await post(directive, { word }), status, code);
        expect(await vendorsOf(word)).to.deep.equal(['openai']);
      });

    it('after the first piece of a stream', async () => {
      const word = uniqueWord();
      const response = await stream('die_after=3*1 tokens=9', word);
      expect(JSON.parse(eventsIn(await response.text()).at(-1) ?? '').error.code).to.equal('upstream_error');
      expect(await vendorsOf(word)).to.deep.equal(['openai']);
      expect(await lastCall(owner)).to.include({ status: 'failed', billingBasis: 'estimated' });
    });
  });

  it('ends in one error when everybody fails, and costs nothing', async () => {
    expectError(await post('submit=503'), 502, 'upstream_error');
    expect(await tried()).to.equal('openai transient, openai transient, grok transient');
    expect(await lastCall(owner)).to.include({ status: 'failed', creditsCharged: 0 });
  });

  it('passes over a credential that is resting', async () => {
    await post('submit=429*1');
    const [first, second] = (await readCalls(gateway, owner)).at(-1)?.tried ?? [];
    expect(first?.credential).not.to.equal(second?.credential);
    await post('');
    const [next] = (await readCalls(gateway, owner)).at(-1)?.tried ?? [];
    expect(next).to.deep.equal(second);
  });

  describe('a family that only a catalogue knows', () => {
    const withoutKey = (): Record<string, string> => ({ ...gateway.env, CLOSED_HOUSE_API_KEY: '' });

    it('is offered with its key, and not without it', () => {
      expect([...gateway.config.catalog.models.keys()]).to.include('closed-house-only');
      const { catalog } = loadConfig(withoutKey());
      expect([...catalog.models.keys()])
        .to.include('pair')
        .and.not.to.include('closed-house-only');
    });

    it('needs a base URL', () => {
      const env = { ...gateway.env, CLOSED_HOUSE_BASE_URL: '' };
      expect(() => loadConfig(env)).to.throw('CLOSED_HOUSE_BASE_URL: required');
    });

    it('is told as unreachable when it is', async () => {
      expectError(await post('', { model: 'closed-house-only' }), 502, 'upstream_error');
    });
  });
});

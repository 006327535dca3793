// Whatever is sent to whatever route: an answer that the document promises, never one of 5xx, and sound
// money. TEST_SEED=… repeats a run, TEST_PROPERTY_SECONDS=… makes it longer.
import { expect } from 'chai';
import fc from 'fast-check';
import { createSession } from '../../../db/identity/sessions.ts';
import { createAdministrator, makeCode, setVerified } from '../../support/administrators.ts';
import { anyRequest, type CallerName } from '../../support/http/generated-requests.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { PNG_DATA_URI } from '../../support/inputs.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { IMAGE_MODEL, orderImage, orderVideo, VIDEO_MODEL } from '../../support/tasks.ts';
import { type KnownThings } from '../../support/http/generated-values.ts';

const SEED = Number(process.env['TEST_SEED'] ?? 1);
const SECONDS = Number(process.env['TEST_PROPERTY_SECONDS'] ?? 15);
const REQUESTS_MIN = 100;

describe(`any request (TEST_SEED=${SEED})`, function () {
  let gateway: TestGateway;
  let owner: TestUser;
  let chief: TestUser;
  const cookies = new Map<CallerName, string>();

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(10_000);
    chief = await createAdministrator(gateway);
    await renewSessions();
  });
  after(() => gateway.stop());

  /** Logs in both callers of the console, and verifies the administrator. */
  async function renewSessions(): Promise<void> {
    const { secrets } = gateway;
    cookies.set('session', await createSession(gateway.em(), secrets, owner.id));
    cookies.set('administrator', await createSession(gateway.em(), secrets, chief.id));
    await setVerified(gateway, chief, true);
  }

  function identityOf(caller: CallerName): Record<string, string> {
    const cookie = cookies.get(caller);
    if (cookie !== undefined) return { cookie: `svc_session=${cookie}` };
    return caller === 'key' ? { authorization: `Bearer ${owner.apiKey}` } : {};
  }

  async function findThings(): Promise<KnownThings> {
    const other = await gateway.createUser(100);
    const tasks = [
      await orderImage(owner.session),
      await orderVideo(owner.session),
      await orderImage(other.session),
    ];
    const ids = tasks.map(({ id }) => id);
    const { code, id: codeId } = await makeCode(chief, { maxUses: 1000 });
    await owner.verify();
    return {
      ids: {
        tasks: ids,
        generations: ids,
        models: [IMAGE_MODEL, VIDEO_MODEL],
        keys: [other.keyId, (await owner.session.post('/api/keys', { name: 'spare' })).body.data.id],
        'redeem-codes': [codeId],
        users: [other.id],
      },
      values: {
        mode: ['image', 'video'],
        model: [IMAGE_MODEL, VIDEO_MODEL],
        prompt: ['a cat', '🐱'.repeat(100)],
        size: ['1:1', '16:9'],
        aspect_ratio: ['16:9'],
        resolution: ['1K', '480p'],
        n: [1, 2],
        duration: [1, 2],
        metadata: [{}, { resolution: '480p' }],
        image_urls: [[], [PNG_DATA_URI]],
        reference_images: [[PNG_DATA_URI]],
        code: [code, code.toLowerCase(), owner.password, '000000'],
        email: [owner.email, `${SEED}@example.com`],
        password: [owner.password, 'a long sentence that nobody guesses'],
        currentPassword: [owner.password],
        modelScope: [[IMAGE_MODEL], null],
        permissions: [[], ['tasks.read'], ['users.write', 'users.write']],
        maxUses: [1, 3],
      },
    };
  }

  it('gets an answer that the document promises, and never one of 5xx', async function () {
    this.timeout((SECONDS + 120) * 1000);
    let requests = 0;
    const property = fc.asyncProperty(anyRequest(await findThings()), async (wanted) => {
      requests += 1;
      const { status, headers, text } = await sendRaw(gateway.baseUrl, {
        method: wanted.method,
        path: wanted.path,
        headers: { ...identityOf(wanted.caller), ...wanted.headers },
        ...(wanted.body && { body: wanted.body }),
      });
      if (headers['set-cookie']) await renewSessions();
      expect(status, text).to.be.within(200, 499);
    });
    await fc.assert(property, {
      seed: SEED,
      numRuns: 1_000_000,
      interruptAfterTimeLimit: SECONDS * 1000,
      markInterruptAsFailure: false,
    });
    expect(requests).to.be.above(REQUESTS_MIN);
  });

  it('leaves the money sound', () => gateway.expectSoundMoney());
});

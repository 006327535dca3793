// Bodies as long as they may be: they cost their caller's request, and no other request.
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

const MEGABYTE = 1_000_000;
const IMAGE = { model: 'gpt-image-2', prompt: 'a cat [[sandbox seconds=0]]' };

describe('a body of many megabytes', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(1_000);
  });
  after(() => gateway.stop());

  it('with one long text in an unknown field is accepted, and its payload names the text', async () => {
    const extra = 'a'.repeat(9 * MEGABYTE);
    const { status, body } = await owner.key.post('/v1/videos/generations', {
      ...{ model: 'grok-imagine-video', prompt: 'a cat', duration: 5, extra },
    });
    expect(status).to.equal(202);
    expect(body.data.requestPayload.extra).to.equal('[masked:base64 9000000]');
  });

  it('is told from another one by an idempotency key, wherever they differ', async () => {
    const send = (last: string) => {
      const headers = { 'idempotency-key': 'long' };
      return owner.key.post(
        '/v1/images/generations',
        { ...IMAGE, extra: `${'a'.repeat(MEGABYTE)}${last}` },
        headers,
      );
    };
    expect((await send('b')).status).to.equal(202);
    expect((await send('b')).headers.get('idempotent-replayed')).to.equal('true');
    const { status, body } = await send('c');
    expect({ status, code: body.error.code }).to.deep.equal({ status: 422, code: 'idempotency_key_reused' });
  });

  for (const [what, extra] of [
    ['entries', Array.from({ length: 3 * MEGABYTE }, () => 1)],
    ['fields', Object.fromEntries(Array.from({ length: MEGABYTE }, (_, index) => [`f${index}`, 1]))],
  ] as const)
    it(`with more than 100,000 ${what} answers 400, and nothing is created`, async () => {
      const before = await listIds();
      const { status, body } = await owner.key.post('/v1/images/generations', { ...IMAGE, extra });
      expect({ status, code: body.error.code }).to.deep.equal({ status: 400, code: 'invalid_request' });
      expect(body.error.message).to.equal('The body holds more than 100000 values.');
      expect(await listIds()).to.deep.equal(before);
    });

  async function listIds(): Promise<string[]> {
    const { body } = await owner.session.get('/api/tasks');
    return body.data.map(({ id }: { id: string }) => id);
  }
});

// Browsers are told to come over TLS only where callers do: in production, behind an https address.
import { expect } from 'chai';
import { startGateway, type TestGateway } from '../../support/servers/gateway.ts';

const TLS_ONLY = 'strict-transport-security';

describe('security headers', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());

  const read = async (path: string): Promise<string | null> =>
    (await gateway.anonymous.get(path)).headers.get(TLS_ONLY);

  it('ask for TLS on every answer in production with an https address, and nowhere else', async () => {
    const { services } = gateway;
    const { publicUrl } = services;
    const paths = ['/openapi.json', '/api/auth/me', '/nowhere'];
    for (const path of paths) expect(await read(path), path).to.equal(null);
    services.production = true;
    for (const path of paths) expect(await read(path), path).to.equal(null);
    services.publicUrl = () => 'https://gateway.example.com';
    for (const path of paths) expect(await read(path), path).to.equal('max-age=31536000; includeSubDomains');
    services.production = false;
    for (const path of paths) expect(await read(path), path).to.equal(null);
    services.publicUrl = publicUrl;
  });
});

// Kling: the plain key or the signed token that a request carries.
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { describeKling, klingJob, START_MS } from './support.ts';

describeKling(({ vendor, clock, sent }) => {
  describe('proves who is calling', () => {
    const tokenOf = (): string =>
      String(vendor.received.at(-1)?.headers.authorization).slice('Bearer '.length);

    it('with a plain key as it is', async () => {
      await sent(klingJob('kling-3.0'));
      expect(tokenOf()).to.equal('key-of-first');
    });

    it('with a plain key alone for models since 3.0, and with either for older ones', () => {
      expect(vendor.provider.credentialsFor('kling-3.0-turbo')).to.deep.equal(['first']);
      expect(vendor.provider.credentialsFor('kling-v2-6')).to.deep.equal(['first', 'second']);
    });

    it('with a token that the secret key signs, kept for 20 of its 30 minutes', async () => {
      const job = { ...klingJob('kling-v2-6'), credential: 'second' };
      await sent(job);
      const first = tokenOf();
      const [header = '', claims = '', signature] = first.split('.');
      const read = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
      expect(read(header)).to.deep.equal({ alg: 'HS256', typ: 'JWT' });
      const seconds = START_MS / 1000;
      expect(read(claims)).to.deep.equal({ iss: 'AK1', exp: seconds + 1800, nbf: seconds - 5 });
      expect(signature).to.equal(
        createHmac('sha256', 'SK1').update(`${header}.${claims}`).digest('base64url'),
      );
      clock.nowMs = START_MS + 1_199_000;
      await sent(job);
      expect(tokenOf()).to.equal(first);
      clock.nowMs = START_MS + 1_200_000;
      await sent(job);
      expect(tokenOf()).to.not.equal(first);
      clock.nowMs = START_MS;
    });
  });
});

// Codes of authenticator apps, by a clock that the test sets.
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import { findTotpStep, makeTotpSecret } from '../../../db/identity/totp.ts';

const STEP_MS = 30_000;

describe('a code of the authenticator app', () => {
  const secret = makeTotpSecret();
  const now = 59_840_926 * STEP_MS + 12_000;
  const codeAt = (timestamp: number): string =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });

  for (const [steps, counts] of [
    [-2, false],
    [-1, true],
    [0, true],
    [1, true],
    [2, false],
  ] as const)
    it(`${counts ? 'counts' : 'does not count'} ${steps} steps from now`, () => {
      const step = findTotpStep(secret, codeAt(now + steps * STEP_MS), now);
      expect(step).to.equal(counts ? BigInt(59_840_926 + steps) : null);
    });

  it('agrees with the table of RFC 6238', () => {
    const published = Buffer.from('12345678901234567890').toString('hex');
    const { base32 } = Secret.fromHex(published);
    expect(findTotpStep(base32, '287082', 59_000)).to.equal(1n);
    expect(findTotpStep(base32, '081804', 1_111_111_109_000)).to.equal(37_037_036n);
  });

  it('has six digits and nothing else', () => {
    const code = codeAt(now);
    for (const text of ['', code.slice(1), `${code}0`, ` ${code}`, 'abcdef'])
      expect(findTotpStep(secret, text, now)).to.equal(null);
  });
});

// Amounts of money: exact in, exact out, rounded up once.
import { expect } from 'chai';
import { BALANCE_MAX, divideRoundingUp, parseCredits, toCredits, toUsd } from '../../domain/credits.ts';

describe('credits', () => {
  it('reads decimals exactly', () => {
    expect(parseCredits('0.000001')).to.equal(1n);
    expect(parseCredits(4)).to.equal(4_000_000n);
    expect(parseCredits('9007199254.740993')).to.equal(9_007_199_254_740_993n);
  });

  for (const text of ['', '-1', '1e3', '0.0000001', '1.', '.5', 'NaN', ' 1', 1e21, Number.NaN])
    it(`refuses ${JSON.stringify(text)}`, () => expect(() => parseCredits(text)).to.throw(RangeError));

  it('prints every amount with at most six decimals', () => {
    expect(toCredits(1n)).to.equal(0.000001);
    expect(toCredits(-1n)).to.equal(-0.000001);
    expect(JSON.stringify(toCredits(300_000n))).to.equal('0.3');
    expect(JSON.stringify(toCredits(1_234_567_890n))).to.equal('1234.56789');
    expect(JSON.stringify(toCredits(-56_000_000n))).to.equal('-56');
  });

  it('prints what its digits say, up to the highest balance', () => {
    for (let amount = 1n; amount < BALANCE_MAX; amount = amount * 3n + 7n) {
      const digits = amount.toString().padStart(7, '0');
      expect(toCredits(amount)).to.equal(Number(`${digits.slice(0, -6)}.${digits.slice(-6)}`));
    }
  });

  it('prints the digits of every amount below the highest balance, as the log of audits compares them', () => {
    for (let below = 1n; below < 2_000n; below += 1n) {
      const amount = BALANCE_MAX - below;
      expect(parseCredits(JSON.stringify(toCredits(amount)))).to.equal(amount);
    }
  });

  it('counts 200 credits to a dollar', () => {
    expect(toUsd(parseCredits('936'))).to.equal(4.68);
  });

  it('rounds up, and whole results stay whole', () => {
    expect(divideRoundingUp(10n, 5n)).to.equal(2n);
    expect(divideRoundingUp(11n, 5n)).to.equal(3n);
    expect(divideRoundingUp(0n, 5n)).to.equal(0n);
  });
});

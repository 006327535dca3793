// Masking a log message: each rule for plain text by example.
import { expect } from 'chai';
import { maskText } from '../../../domain/masking/masking.ts';
import { JWT, OWN_KEY } from './samples.ts';

describe('masking a log message', () => {
  const cases: [string, string][] = [
    ['mail to alice.b+c@mail.example.com now', 'mail to [masked:email] now'],
    ['user=alice%40example.com', 'user=[masked:email]'],
    ['postgres://u:p@h/db failed', '[masked:url] failed'],
    ['Authorization: Bearer abc123def456', 'Authorization: Bearer [masked:token]'],
    ['Bearer Bearer abc123def456', 'Bearer Bearer [masked:token]'],
    ['Authorization: Token 9x8y7z6w5v4', 'Authorization: [masked]'],
    ['Cookie: a=b1c2d3; svc_session=zzz', 'Cookie: [masked]'],
    [`key ${OWN_KEY}\n${JWT}`, 'key [masked:token]'],
    ['Bearer [masked:token] stays', 'Bearer [masked:token] stays'],
    ['password=[masked]hunter2', 'password=[masked]'],
  ];
  for (const [text, masked] of cases) {
    it(`turns "${text.slice(0, 40)}" into "${masked.slice(0, 40)}"`, () => {
      expect(maskText(text)).to.equal(masked);
      expect(maskText(masked)).to.equal(masked);
    });
  }
});

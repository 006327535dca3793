// Kling: what the codes of refused submissions mean.
import { expect } from 'chai';
import { failureOf, verdictOf } from '../stand-in.ts';
import { describeKling, klingJob } from './support.ts';

describeKling(({ vendor, answer }) => {
  describe('submit, refused', () => {
    const codes: [code: number, status: number, verdict: string][] = [
      [1000, 401, 'auth, not_received'],
      [1001, 401, 'auth, not_received'],
      [1002, 401, 'auth, not_received'],
      [1003, 401, 'auth, not_received'],
      [1004, 401, 'auth, not_received'],
      [1100, 429, 'quota, not_received'],
      [1101, 429, 'quota, not_received'],
      [1102, 429, 'quota, not_received'],
      [1103, 403, 'auth, not_received'],
      [1200, 400, 'invalid, refused'],
      [1201, 400, 'invalid, refused'],
      [1202, 404, 'invalid, refused'],
      [1203, 404, 'model_retired, refused'],
      [1300, 400, 'moderation, refused'],
      [1301, 400, 'moderation, refused'],
      [1302, 429, 'rate, not_received'],
      [1303, 429, 'concurrency, not_received'],
      [1304, 429, 'auth, not_received'],
      [5000, 500, 'transient, unknown'],
      [5001, 503, 'transient, not_received'],
      [5002, 504, 'transient, unknown'],
      [9999, 429, 'rate, not_received'],
    ];
    for (const [code, status, verdict] of codes)
      it(`with ${code} is ${verdict}, also when it comes with HTTP 200`, async () => {
        answer(undefined, code, status);
        const failure = await failureOf(vendor.provider.submit(klingJob('kling-3.0')));
        expect([verdictOf(failure), failure.text]).to.deep.equal([verdict, `message of ${code}`]);
        answer(undefined, code);
        const inside = await failureOf(vendor.provider.submit(klingJob('kling-3.0')));
        expect(verdictOf(inside)).to.equal(code === 9999 ? 'transient, unknown' : verdict);
      });
  });
});

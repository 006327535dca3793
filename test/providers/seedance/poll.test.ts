// Seedance videos: how every answer to a poll reads.
import { expect } from 'chai';
import { failureOf, sendJson, verdictOf } from '../stand-in.ts';
import { describeSeedance, TASKS, VIDEO } from './support.ts';

describeSeedance((vendor) => {
  async function poll(status: number, json: unknown, credential = 'default') {
    vendor.play = (res) => sendJson(res, status, json);
    return vendor.provider.poll?.({ id: 'cgt/1', credential });
  }

  describe('poll', () => {
    it('is asked with the credential that handed it over, and its id is one path segment', async () => {
      await poll(200, { status: 'running' }, 'second');
      const { path, headers } = vendor.received.at(-1) ?? {};
      expect([path, headers?.authorization]).to.deep.equal([`${TASKS}/cgt%2F1`, 'Bearer sk-second']);
    });

    it('is auth, not_received when that credential is gone', async () => {
      expect(verdictOf(await failureOf(poll(200, {}, 'third')))).to.equal('auth, not_received');
    });

    const words: [status: unknown, state: object][] = [
      ['queued', { kind: 'queued' }],
      ['running', { kind: 'running', progress: null }],
      ['simmering', { kind: 'running', progress: null }],
      [7, { kind: 'running', progress: null }],
      ['cancelled', { kind: 'cancelled' }],
      ['expired', { kind: 'expired' }],
      ['succeeded', { kind: 'failed', errorClass: 'invalid_response', text: null }],
      ['failed', { kind: 'failed', errorClass: 'transient', text: null }],
    ];
    for (const [status, state] of words) {
      it(`reads ${String(status)} without anything else as ${JSON.stringify(state)}`, async () => {
        expect(await poll(200, { status, error: null })).to.deep.equal(state);
      });
    }

    it('reads success with the tokens that are billed', async () => {
      const usage = { completion_tokens: 108_900, total_tokens: 108_900 };
      expect(await poll(200, { status: 'succeeded', content: { video_url: VIDEO }, usage })).to.deep.equal({
        kind: 'succeeded',
        results: [{ kind: 'url', url: VIDEO }],
        evidence: { tokens: 108_900 },
      });
    });

    for (const nonsense of [0, -1, 9e18, 'plenty', null, [], {}]) {
      it(`leaves out evidence such as ${JSON.stringify(nonsense)}`, async () => {
        const usage = { completion_tokens: nonsense };
        const state = await poll(200, { status: 'succeeded', content: { video_url: VIDEO }, usage });
        expect(state).to.deep.include({ kind: 'succeeded', evidence: {} });
      });
    }

    const failures: [code: string, errorClass: string][] = [
      ['OutputVideoSensitiveContentDetected', 'moderation'],
      ['OutputAudioSensitiveContentDetected.PolicyViolation', 'moderation'],
      ['InvalidParameter.TaskTypeMismatch', 'invalid'],
      ['InternalServiceError', 'transient'],
      ['BrandNew', 'transient'],
    ];
    for (const [code, errorClass] of failures) {
      it(`reads failure by ${code} as ${errorClass}`, async () => {
        const state = await poll(200, { status: 'failed', error: { code, message: 'm' } });
        expect(state).to.deep.equal({ kind: 'failed', errorClass, text: 'm' });
      });
    }

    it('is expired, refused for a 404, which the caller judges by the age of the job', async () => {
      const error = { code: 'ResourceNotFound', message: 'm' };
      expect(verdictOf(await failureOf(poll(404, { error })))).to.equal('expired, refused');
    });
  });
});

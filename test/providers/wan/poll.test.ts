// Wan videos: how every answer to a poll reads.
import { expect } from 'chai';
import { failureOf, sendJson, verdictOf } from '../stand-in.ts';
import { describeWan, TASKS, VIDEO } from './support.ts';

describeWan((vendor) => {
  async function poll(status: number, json: unknown, credential = 'default') {
    vendor.play = (res) => sendJson(res, status, json);
    return vendor.provider.poll?.({ id: 't/1', credential });
  }

  describe('poll', () => {
    const task = (task_status: unknown, more: object = {}) => ({ output: { task_status, ...more } });

    it('is asked with the credential that handed it over, and its id is one path segment', async () => {
      await poll(200, task('RUNNING'), 'second');
      const { path, headers } = vendor.received.at(-1) ?? {};
      expect([path, headers?.authorization]).to.deep.equal([`${TASKS}/t%2F1`, 'Bearer sk-second']);
    });

    const words: [status: unknown, state: object][] = [
      ['PENDING', { kind: 'queued' }],
      ['RUNNING', { kind: 'running', progress: null }],
      ['SIMMERING', { kind: 'running', progress: null }],
      [undefined, { kind: 'running', progress: null }],
      ['CANCELED', { kind: 'cancelled' }],
      ['SUCCEEDED', { kind: 'failed', errorClass: 'invalid_response', text: null }],
      ['FAILED', { kind: 'failed', errorClass: 'transient', text: null }],
    ];
    for (const [status, state] of words) {
      it(`reads ${String(status)} without anything else as ${JSON.stringify(state)}`, async () => {
        expect(await poll(200, task(status))).to.deep.equal(state);
      });
    }

    it('is expired, refused when it is UNKNOWN, which the caller judges by the age of the job', async () => {
      expect(verdictOf(await failureOf(poll(200, task('UNKNOWN'))))).to.equal('expired, refused');
      expect(verdictOf(await failureOf(poll(404, {})))).to.equal('expired, refused');
    });

    const usages: [usage: unknown, evidence: object][] = [
      [{ duration: 5, output_video_duration: 5, input_video_duration: 0, SR: 720 }, { seconds: 5 }],
      [{ duration: 5 }, { seconds: 5 }],
      [
        { duration: 12, output_video_duration: 5, input_video_duration: 7 },
        { seconds: 5, inputVideoSeconds: 7 },
      ],
      // To charge by the duration would charge the input a second time, at the price of the output.
      [{ duration: 12, input_video_duration: 7 }, { inputVideoSeconds: 7 }],
      [{ duration: 0 }, {}],
      [{ duration: -5 }, {}],
      [{ duration: 9e18 }, {}],
      [{ duration: '5' }, {}],
      [undefined, {}],
    ];
    for (const [usage, evidence] of usages) {
      it(`reads ${JSON.stringify(usage)} as evidence ${JSON.stringify(evidence)}`, async () => {
        const state = await poll(200, { ...task('SUCCEEDED', { video_url: VIDEO }), usage });
        expect(state).to.deep.equal({ kind: 'succeeded', results: [{ kind: 'url', url: VIDEO }], evidence });
      });
    }

    const failures: [code: string, errorClass: string][] = [
      ['DataInspectionFailed', 'moderation'],
      ['InvalidParameter.DataInspection', 'moderation'],
      ['InvalidParameter', 'invalid'],
      ['InternalError.Timeout', 'transient'],
      ['BrandNew', 'transient'],
    ];
    for (const [code, errorClass] of failures) {
      it(`reads failure by ${code} as ${errorClass}`, async () => {
        expect(await poll(200, task('FAILED', { code, message: 'm' }))).to.deep.equal({
          kind: 'failed',
          errorClass,
          text: 'm',
        });
      });
    }
  });
});

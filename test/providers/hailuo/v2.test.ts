// MiniMax's second API: what is asked for, and how its answers read.
import { expect } from 'chai';
import { PNG_DATA_URI } from '../../support/inputs.ts';
import { failureOf, sendJson, verdictOf } from '../stand-in.ts';
import { describeHailuo, hailuoJob, PICTURE, URL_OF_VIDEO } from './support.ts';

const JOB = { id: '406/1', credential: 'first', dialect: 'v2' };

describeHailuo(({ vendor, answer, sent, requests, polled }) => {
  describe('of the second API', () => {
    const model = 'MiniMax-H3';
    const text = { type: 'text', text: 'a cat that runs' };

    it('are asked for in concrete values', async () => {
      expect(await sent(hailuoJob(model, { resolution: '2K' }))).to.deep.equal({
        model,
        content: [text],
        duration: 6,
        resolution: '2K',
        ratio: '16:9',
      });
      expect(requests().at(-1)).to.equal('POST /v2/video_generation');
    });

    it('have frames with roles, and the ratio of the frames', async () => {
      const job = hailuoJob(model, { inputImages: 2, imageRole: 'first_and_last_frame' });
      expect(await sent({ ...job, inputImages: [PICTURE, PNG_DATA_URI] })).to.deep.include({
        content: [
          text,
          { type: 'image_url', image_url: { url: PICTURE }, role: 'first_frame' },
          { type: 'image_url', image_url: { url: PNG_DATA_URI }, role: 'last_frame' },
        ],
        ratio: 'adaptive',
        resolution: '768P',
      });
    });

    it('have references, images and videos, and the ratio that was ordered', async () => {
      const job = hailuoJob(model, { inputImages: 1, imageRole: 'references', inputVideos: 1 });
      const inputs = { inputImages: [PICTURE], inputVideos: ['https://example.com/a.mp4'] };
      expect(await sent({ ...job, ...inputs })).to.deep.include({
        content: [
          text,
          { type: 'image_url', image_url: { url: PICTURE }, role: 'reference_image' },
          { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' }, role: 'reference_video' },
        ],
        ratio: '16:9',
      });
    });

    const refusals: [status: number, type: string, message: string, verdict: string][] = [
      [400, 'bad_request_error', 'invalid params (2013)', 'invalid, refused'],
      [401, 'authorized_error', 'login fail (1004)', 'auth, not_received'],
      [402, 'insufficient_balance_error', 'insufficient balance (1008)', 'quota, not_received'],
      [422, 'unprocessable_entity_error', 'input new_sensitive (1026)', 'moderation, refused'],
      [422, 'unprocessable_entity_error', 'duration is wrong (2013)', 'invalid, refused'],
      [429, 'rate_limit_error', 'rate limit (1002)', 'rate, not_received'],
      [429, 'rate_limit_error', 'concurrency limit', 'concurrency, not_received'],
      [500, 'server_error', 'unknown error (1000)', 'transient, unknown'],
      [503, 'server_error', 'down', 'transient, not_received'],
    ];
    for (const [status, type, message, verdict] of refusals)
      it(`are refused with ${status} and “${message}”: ${verdict}`, async () => {
        answer(
          { type: 'error', error: { type, message, http_code: String(status) }, request_id: 'r' },
          status,
        );
        const failure = await failureOf(vendor.provider.submit(hailuoJob(model)));
        expect([verdictOf(failure), failure.text]).to.deep.equal([verdict, message]);
      });

    async function told(task: object) {
      answer({ task: { id: '406', ...task } });
      return polled(JOB);
    }

    it('wait, work, end, and have words nobody knows', async () => {
      for (const status of ['queued', 'cancelled', 'expired'])
        expect(await told({ status })).to.deep.equal({ kind: status });
      for (const status of ['running', 'simmering', undefined])
        expect(await told({ status })).to.deep.equal({ kind: 'running', progress: null });
      expect(requests().at(-1)).to.equal('GET /v2/query/video_generation/406%2F1');
    });

    it('are done with seconds that went out and seconds that came in', async () => {
      const usage = { total_seconds: 14, input_seconds: 8, output_seconds: 6, input_image_count: 2 };
      const task = { status: 'succeeded', content: { url: URL_OF_VIDEO }, usage };
      expect(await told(task)).to.deep.equal({
        kind: 'succeeded',
        results: [{ kind: 'url', url: URL_OF_VIDEO }],
        evidence: { seconds: 6, inputVideoSeconds: 8 },
      });
      expect(await told({ ...task, content: {} })).to.include({ errorClass: 'invalid_response' });
      for (const nonsense of [-1, 9e18, 'plenty', null]) {
        const absurd = { input_seconds: nonsense, output_seconds: nonsense };
        expect(await told({ ...task, usage: absurd })).to.deep.include({ evidence: {} });
      }
    });

    const failures: [error: object, errorClass: string][] = [
      [{ code: '1027', message: 'm' }, 'moderation'],
      [{ code: 1026, message: 'm' }, 'moderation'],
      [{ code: '1008', message: 'm' }, 'quota'],
      [{ code: 'x', message: 'm (2013)' }, 'invalid'],
      [{ code: 'x', message: 'output contains sensitive content' }, 'moderation'],
      [{ code: 'x', message: 'm' }, 'transient'],
    ];
    for (const [error, errorClass] of failures)
      it(`fail by ${JSON.stringify(error)} as ${errorClass}`, async () => {
        expect(await told({ status: 'failed', error })).to.include({ kind: 'failed', errorClass });
      });

    it('are gone with 404', async () => {
      answer({ type: 'error', error: { type: 'not_found_error', message: 'm' } }, 404);
      expect(verdictOf(await failureOf(polled(JOB)))).to.equal('expired, refused');
    });

    for (const [status, verdict, asked] of [
      ['queued', 'cancelled', true],
      ['running', 'too_late', false],
      ['succeeded', 'too_late', false],
      ['failed', 'too_late', false],
      ['cancelled', 'cancelled', false],
    ] as const)
      it(`are ${verdict} when ${status}, and ${asked ? '' : 'not '}erased by the request`, async () => {
        const before = vendor.received.length;
        answer({ task: { status, content: { url: URL_OF_VIDEO } }, task_id: '406' });
        expect(await vendor.provider.cancel?.(JOB)).to.equal(verdict);
        const deletions = requests()
          .slice(before)
          .filter((request) => request === 'DELETE /v2/video_generation/406%2F1');
        expect(deletions).to.have.length(asked ? 1 : 0);
      });

    it('are too late when they begin between the look and the request', async () => {
      vendor.play = (res, { method }) => {
        if (method === 'GET') sendJson(res, 200, { task: { status: 'queued' } });
        else sendJson(res, 400, { type: 'error', error: { message: 'a running task (2013)' } });
      };
      expect(await vendor.provider.cancel?.(JOB)).to.equal('too_late');
    });
  });
});

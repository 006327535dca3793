// MiniMax's videos: what is asked for in its two APIs, and how their answers read.
import { expect } from 'chai';
import { createHailuo } from '../../../providers/hailuo/hailuo.ts';
import type { Provider, UpstreamJob } from '../../../providers/provider.ts';
import { PNG_DATA_URI } from '../../support/inputs.ts';
import {
  failureOf,
  sendJson,
  startStandIn,
  verdictOf,
  videoJob,
  type Play,
  type StandIn,
} from '../stand-in.ts';

const PICTURE = 'https://example.com/a.png';
const URL_OF_VIDEO = 'https://cdn.example/video.mp4';
const FIRST = { id: '106/1', credential: 'first', dialect: 'v1' };
const SECOND = { id: '406/1', credential: 'first', dialect: 'v2' };

describe('MiniMax videos', () => {
  let standIn: StandIn;
  let provider: Provider;
  let play: Play = (res) => sendJson(res, 200, {});

  before(async () => {
    standIn = await startStandIn((res, req) => play(res, req));
    const credentials = [{ id: 'first', key: 'sk-first' }];
    provider = createHailuo({ baseUrl: standIn.url, credentials, upstreamTimeoutMs: 2_000 });
  });
  after(() => standIn.close());

  function answer(json: unknown, status = 200): void {
    play = (res) => sendJson(res, status, json);
  }

  function jobOf(upstreamModel: string, changes: Partial<UpstreamJob['order']> = {}): UpstreamJob {
    const order = { ...videoJob().order, seconds: 6, resolution: '768p', ...changes };
    return videoJob({ upstreamModel, order, credential: 'first' });
  }

  async function sent(job: UpstreamJob): Promise<unknown> {
    answer({ task_id: '106', base_resp: { status_code: 0, status_msg: 'success' } });
    await provider.submit(job);
    return JSON.parse(String(standIn.received.at(-1)?.body));
  }

  const requests = (): string[] => standIn.received.map(({ method, path }) => `${method} ${path}`);
  const polled = (handle: typeof FIRST) => Promise.resolve(provider.poll?.(handle));

  describe('of the first API', () => {
    const model = 'MiniMax-Hailuo-02';
    const told = (fields: object, code = 0, message = 'success') => ({
      ...fields,
      base_resp: { status_code: code, status_msg: message },
    });

    it('are asked for in concrete values, the resolution in capitals', async () => {
      expect(await sent(jobOf(model, { ratio: null }))).to.deep.equal({
        model,
        prompt: 'a cat that runs',
        duration: 6,
        resolution: '768P',
      });
      const { method, path, headers } = standIn.received.at(-1) ?? {};
      expect([method, path, headers?.authorization]).to.deep.equal([
        'POST',
        '/v1/video_generation',
        'Bearer sk-first',
      ]);
    });

    it('have a first and a last frame as they came', async () => {
      const job = jobOf(model, { inputImages: 2, imageRole: 'first_and_last_frame', ratio: null });
      expect(await sent({ ...job, inputImages: [PICTURE, PNG_DATA_URI] })).to.include({
        first_frame_image: PICTURE,
        last_frame_image: PNG_DATA_URI,
      });
    });

    it('answer with a handle without secrets', async () => {
      answer(told({ task_id: '106' }));
      expect(await provider.submit(jobOf(model))).to.deep.include({
        kind: 'accepted',
        handle: { id: '106', credential: 'first', dialect: 'v1' },
      });
    });

    const codes: [code: number, verdict: string][] = [
      [1000, 'transient, unknown'],
      [1002, 'rate, not_received'],
      [1004, 'auth, not_received'],
      [1008, 'quota, not_received'],
      [1026, 'moderation, refused'],
      [1027, 'moderation, refused'],
      [2013, 'invalid, refused'],
      [2049, 'auth, not_received'],
      [2061, 'quota, not_received'],
      [9999, 'transient, unknown'],
    ];
    for (const [code, verdict] of codes)
      it(`are refused with ${code} inside HTTP 200: ${verdict}`, async () => {
        answer(told({ task_id: '' }, code, 'why'));
        const failure = await failureOf(provider.submit(jobOf(model)));
        expect([verdictOf(failure), failure.text]).to.deep.equal([verdict, 'why']);
      });

    it('are refused with a status and a code, of which the surer one counts', async () => {
      answer(told({}, 1008, 'no money'), 400);
      expect(verdictOf(await failureOf(provider.submit(jobOf(model))))).to.equal('quota, not_received');
      answer(told({}, 1013, 'down'), 503);
      expect(verdictOf(await failureOf(provider.submit(jobOf(model))))).to.equal('transient, not_received');
    });

    it('wait, work, and have words nobody knows', async () => {
      const states: [string, string][] = [
        ['Preparing', 'queued'],
        ['Queueing', 'queued'],
        ['Processing', 'running'],
        ['Simmering', 'running'],
      ];
      for (const [status, kind] of states) {
        answer(told({ status }));
        expect(await polled(FIRST), status).to.include({ kind });
      }
      expect(requests().at(-1)).to.equal('GET /v1/query/video_generation?task_id=106%2F1');
    });

    it('are found behind a second question, anew with every poll', async () => {
      for (const id of ['205258526306433', 205258526306433])
        for (const link of ['one', 'two']) {
          play = (res, { path }) => {
            if (path.startsWith('/v1/query')) sendJson(res, 200, told({ status: 'Success', file_id: id }));
            else sendJson(res, 200, told({ file: { download_url: `${URL_OF_VIDEO}?${link}` } }));
          };
          const results = [{ kind: 'url', url: `${URL_OF_VIDEO}?${link}` }];
          expect(await polled(FIRST)).to.deep.equal({ kind: 'succeeded', results, evidence: {} });
          expect(requests().at(-1)).to.equal('GET /v1/files/retrieve?file_id=205258526306433');
        }
    });

    it('make no sense without a file or a link', async () => {
      const nothing = { kind: 'failed', errorClass: 'invalid_response', text: null };
      for (const id of ['', null, 9e18]) {
        answer(told({ status: 'Success', file_id: id, file: {} }));
        expect(await polled(FIRST), String(id)).to.deep.equal(nothing);
      }
      answer(told({ status: 'Success', file_id: '2', file: { download_url: '' } }));
      expect(await polled(FIRST)).to.deep.equal(nothing);
    });

    it('are asked for again when only the second question brings no answer', async () => {
      play = (res, { path }) => {
        if (path.startsWith('/v1/query')) sendJson(res, 200, told({ status: 'Success', file_id: '2' }));
        else sendJson(res, 200, told({}, 1002, 'slowly'));
      };
      expect(verdictOf(await failureOf(polled(FIRST)))).to.equal('rate, not_received');
    });

    const failures: [code: number, text: string, errorClass: string][] = [
      [1026, 'x', 'moderation'],
      [1027, 'x', 'moderation'],
      [0, 'output new_sensitive', 'moderation'],
      [0, 'insufficient balance', 'quota'],
      [0, 'too many videos', 'concurrency'],
      [0, 'invalid params', 'invalid'],
      [0, 'something else', 'transient'],
    ];
    for (const [code, text, errorClass] of failures)
      it(`fail with ${code} and “${text}” as ${errorClass}`, async () => {
        answer(told({ status: 'Fail' }, code, text));
        expect(await polled(FIRST)).to.deep.equal({ kind: 'failed', errorClass, text });
      });

    it('are gone where the id is a wrong parameter', async () => {
      answer(told({}, 2013, 'task_id does not exist'));
      expect(verdictOf(await failureOf(polled(FIRST)))).to.equal('expired, refused');
      answer(told({}, 2013, 'not found'), 404);
      expect(verdictOf(await failureOf(polled(FIRST)))).to.equal('expired, refused');
    });

    it('cannot be cancelled, and nobody is asked', async () => {
      const before = standIn.received.length;
      expect(await provider.cancel?.(FIRST)).to.equal('too_late');
      expect(standIn.received.length).to.equal(before);
    });
  });

  describe('of the second API', () => {
    const model = 'MiniMax-H3';
    const text = { type: 'text', text: 'a cat that runs' };

    it('are asked for in concrete values', async () => {
      expect(await sent(jobOf(model, { resolution: '2K' }))).to.deep.equal({
        model,
        content: [text],
        duration: 6,
        resolution: '2K',
        ratio: '16:9',
      });
      expect(requests().at(-1)).to.equal('POST /v2/video_generation');
    });

    it('have frames with roles, and the ratio of the frames', async () => {
      const job = jobOf(model, { inputImages: 2, imageRole: 'first_and_last_frame' });
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
      const job = jobOf(model, { inputImages: 1, imageRole: 'references', inputVideos: 1 });
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
        const failure = await failureOf(provider.submit(jobOf(model)));
        expect([verdictOf(failure), failure.text]).to.deep.equal([verdict, message]);
      });

    async function told(task: object) {
      answer({ task: { id: '406', ...task } });
      return polled(SECOND);
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
      expect(verdictOf(await failureOf(polled(SECOND)))).to.equal('expired, refused');
    });

    for (const [status, verdict, asked] of [
      ['queued', 'cancelled', true],
      ['running', 'too_late', false],
      ['succeeded', 'too_late', false],
      ['failed', 'too_late', false],
      ['cancelled', 'cancelled', false],
    ] as const)
      it(`are ${verdict} when ${status}, and ${asked ? '' : 'not '}erased by the request`, async () => {
        const before = standIn.received.length;
        answer({ task: { status, content: { url: URL_OF_VIDEO } }, task_id: '406' });
        expect(await provider.cancel?.(SECOND)).to.equal(verdict);
        const deletions = requests()
          .slice(before)
          .filter((request) => request === 'DELETE /v2/video_generation/406%2F1');
        expect(deletions).to.have.length(asked ? 1 : 0);
      });

    it('are too late when they begin between the look and the request', async () => {
      play = (res, { method }) => {
        if (method === 'GET') sendJson(res, 200, { task: { status: 'queued' } });
        else sendJson(res, 400, { type: 'error', error: { message: 'a running task (2013)' } });
      };
      expect(await provider.cancel?.(SECOND)).to.equal('too_late');
    });
  });
});

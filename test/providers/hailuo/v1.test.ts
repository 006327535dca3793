// MiniMax's first API: what is asked for, and how its answers read.
import { expect } from 'chai';
import { PNG_DATA_URI } from '../../support/inputs.ts';
import { failureOf, sendJson, verdictOf } from '../stand-in.ts';
import { describeHailuo, hailuoJob, PICTURE, URL_OF_VIDEO } from './support.ts';

const JOB = { id: '106/1', credential: 'first', dialect: 'v1' };

describeHailuo(({ vendor, answer, sent, requests, polled }) => {
  describe('of the first API', () => {
    const model = 'MiniMax-Hailuo-02';
    const told = (fields: object, code = 0, message = 'success') => ({
      ...fields,
      base_resp: { status_code: code, status_msg: message },
    });

    it('are asked for in concrete values, the resolution in capitals', async () => {
      expect(await sent(hailuoJob(model, { ratio: null }))).to.deep.equal({
        model,
        prompt: 'a cat that runs',
        duration: 6,
        resolution: '768P',
      });
      const { method, path, headers } = vendor.received.at(-1) ?? {};
      expect([method, path, headers?.authorization]).to.deep.equal([
        'POST',
        '/v1/video_generation',
        'Bearer sk-first',
      ]);
    });

    it('have a first and a last frame as they came', async () => {
      const job = hailuoJob(model, { inputImages: 2, imageRole: 'first_and_last_frame', ratio: null });
      expect(await sent({ ...job, inputImages: [PICTURE, PNG_DATA_URI] })).to.include({
        first_frame_image: PICTURE,
        last_frame_image: PNG_DATA_URI,
      });
    });

    it('answer with a handle without secrets', async () => {
      answer(told({ task_id: '106' }));
      expect(await vendor.provider.submit(hailuoJob(model))).to.deep.include({
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
        const failure = await failureOf(vendor.provider.submit(hailuoJob(model)));
        expect([verdictOf(failure), failure.text]).to.deep.equal([verdict, 'why']);
      });

    it('are refused with a status and a code, of which the surer one counts', async () => {
      answer(told({}, 1008, 'no money'), 400);
      expect(verdictOf(await failureOf(vendor.provider.submit(hailuoJob(model))))).to.equal(
        'quota, not_received',
      );
      answer(told({}, 1013, 'down'), 503);
      expect(verdictOf(await failureOf(vendor.provider.submit(hailuoJob(model))))).to.equal(
        'transient, not_received',
      );
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
        expect(await polled(JOB), status).to.include({ kind });
      }
      expect(requests().at(-1)).to.equal('GET /v1/query/video_generation?task_id=106%2F1');
    });

    it('are found behind a second question, anew with every poll', async () => {
      for (const id of ['205258526306433', 205258526306433])
        for (const link of ['one', 'two']) {
          vendor.play = (res, { path }) => {
            if (path.startsWith('/v1/query')) sendJson(res, 200, told({ status: 'Success', file_id: id }));
            else sendJson(res, 200, told({ file: { download_url: `${URL_OF_VIDEO}?${link}` } }));
          };
          const results = [{ kind: 'url', url: `${URL_OF_VIDEO}?${link}` }];
          expect(await polled(JOB)).to.deep.equal({ kind: 'succeeded', results, evidence: {} });
          expect(requests().at(-1)).to.equal('GET /v1/files/retrieve?file_id=205258526306433');
        }
    });

    it('make no sense without a file or a link', async () => {
      const nothing = { kind: 'failed', errorClass: 'invalid_response', text: null };
      for (const id of ['', null, 9e18]) {
        answer(told({ status: 'Success', file_id: id, file: {} }));
        expect(await polled(JOB), String(id)).to.deep.equal(nothing);
      }
      answer(told({ status: 'Success', file_id: '2', file: { download_url: '' } }));
      expect(await polled(JOB)).to.deep.equal(nothing);
    });

    it('are asked for again when only the second question brings no answer', async () => {
      vendor.play = (res, { path }) => {
        if (path.startsWith('/v1/query')) sendJson(res, 200, told({ status: 'Success', file_id: '2' }));
        else sendJson(res, 200, told({}, 1002, 'slowly'));
      };
      expect(verdictOf(await failureOf(polled(JOB)))).to.equal('rate, not_received');
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
        expect(await polled(JOB)).to.deep.equal({ kind: 'failed', errorClass, text });
      });

    it('are gone where the id is a wrong parameter', async () => {
      answer(told({}, 2013, 'task_id does not exist'));
      expect(verdictOf(await failureOf(polled(JOB)))).to.equal('expired, refused');
      answer(told({}, 2013, 'not found'), 404);
      expect(verdictOf(await failureOf(polled(JOB)))).to.equal('expired, refused');
    });

    it('cannot be cancelled, and nobody is asked', async () => {
      const before = vendor.received.length;
      expect(await vendor.provider.cancel?.(JOB)).to.equal('too_late');
      expect(vendor.received.length).to.equal(before);
    });
  });
});

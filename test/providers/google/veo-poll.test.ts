// Veo: how operations read on either service, and where the bytes are.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { fetchResult } from '../../../providers/http/fetch-result.ts';
import { failureOf, sendJson, verdictOf } from '../stand-in.ts';
import { describeVeo, GEMINI_JOB, RESOURCE, VERTEX_JOB } from './veo-support.ts';

const VIDEO = readFileSync(new URL('../../../sandbox/assets/video-16x9.mp4', import.meta.url));

describeVeo((veo) => {
  const { vendor, body } = veo;

  describe('poll', () => {
    const poll = async (json: unknown, provider = veo.gemini, handle = GEMINI_JOB) => {
      vendor.play = (res) => sendJson(res, 200, json);
      return provider.poll?.(handle);
    };
    const done = (response: object) => ({ name: 'n', done: true, response });

    it('is a GET of the operation on the Gemini API', async () => {
      await poll({});
      const [{ method, path } = { method: '', path: '' }] = vendor.received;
      expect([method, path]).to.deep.equal(['GET', '/v1beta/models/veo-3.1-generate-001/operations/op-1']);
    });

    it('is a POST with the operation’s name on Vertex', async () => {
      await poll({}, veo.vertex, VERTEX_JOB);
      const [{ method, path } = { method: '', path: '' }] = vendor.received;
      expect([method, path]).to.deep.equal(['POST', `/v1/${RESOURCE}:fetchPredictOperation`]);
      expect(body()).to.deep.equal({ operationName: `${RESOURCE}/operations/op-1` });
    });

    it('is not asked for at the other service, which knows nothing of it', async () => {
      expect(verdictOf(await failureOf(poll({}, veo.vertex, GEMINI_JOB)))).to.equal('expired, refused');
      expect(vendor.received).to.deep.equal([]);
    });

    it('reads whatever is not done as running', async () => {
      for (const json of [{}, [], null, { done: false }, { done: 'true' }, { name: 'n', metadata: {} }])
        expect(await poll(json)).to.deep.equal({ kind: 'running', progress: null });
    });

    it('reads a sample of the Gemini API as a link that needs the key', async () => {
      const url = `${vendor.url}/v1beta/files/f:download?alt=media`;
      const generatedSamples = [{ video: { uri: url } }, { video: { uri: 'https://example.com/2' } }];
      expect(await poll(done({ generateVideoResponse: { generatedSamples } }))).to.deep.equal({
        kind: 'succeeded',
        results: [{ kind: 'guarded_url', url }],
        evidence: {},
      });
    });

    it('reads a video of Vertex from the answer itself', async () => {
      const videos = [{ bytesBase64Encoded: VIDEO.toString('base64'), mimeType: 'video/mp4' }];
      const state = await poll(done({ raiMediaFilteredCount: 0, videos }), veo.vertex, VERTEX_JOB);
      if (state?.kind !== 'succeeded' || state.results[0]?.kind !== 'inline') throw new Error('no video');
      expect(VIDEO.equals(state.results[0].bytes)).to.equal(true);
    });

    const useless: object[] = [
      {},
      { uri: '' },
      { gcsUri: 'gs://bucket/video.mp4' },
      { bytesBase64Encoded: VIDEO.subarray(0, -1).toString('base64') },
      { bytesBase64Encoded: 'PGh0bWw+' },
    ];
    for (const [index, video] of useless.entries())
      it(`cannot make sense of a video without its bytes (${index + 1})`, async () => {
        const failed = { kind: 'failed', errorClass: 'invalid_response', text: null };
        expect(await poll(done({ videos: [video] }), veo.vertex, VERTEX_JOB)).to.deep.equal(failed);
      });

    it('reads the failure of an operation at once, though its message repeats a prompt of 32 KB', async () => {
      const message = `I cannot do this: ${'violat'.repeat(5_500)}`;
      const startedAt = performance.now();
      const state = await poll({ done: true, error: { code: 3, message } });
      expect(state).to.include({ kind: 'failed', errorClass: 'invalid', text: message });
      expect(performance.now() - startedAt).to.be.lessThan(1_000);
    });

    it('reads done without any response as an answer that makes no sense', async () => {
      for (const response of [undefined, null, 'x'])
        expect(await poll({ done: true, response })).to.include({ errorClass: 'invalid_response' });
    });

    it('reads done without samples as moderation, in the vendor’s words where it has some', async () => {
      const filtered = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['One.', 'Two.'] };
      const failed = { kind: 'failed', errorClass: 'moderation' };
      const withWords = { ...failed, text: 'One. Two.' };
      expect(await poll(done({ generateVideoResponse: filtered }))).to.deep.equal(withWords);
      expect(await poll(done(filtered), veo.vertex, VERTEX_JOB)).to.deep.equal(withWords);
      expect(await poll(done({}))).to.deep.equal({ ...failed, text: null });
      expect(await poll(done({ videos: [] }))).to.deep.equal({ ...failed, text: null });
    });

    const failures: [code: unknown, message: string, errorClass: string][] = [
      [3, 'The image could not be decoded.', 'invalid'],
      [3, "Your input violates Google's Responsible AI practices.", 'moderation'],
      [3, 'The video was blocked by your current safety settings for people.', 'moderation'],
      [7, 'm', 'auth'],
      [8, 'The service is experiencing high load.', 'rate'],
      [8, 'Your prepayment credits are depleted.', 'quota'],
      [13, 'm', 'transient'],
      [14, 'm', 'transient'],
      ['13', 'm', 'transient'],
    ];
    for (const [code, message, errorClass] of failures)
      it(`reads an error ${JSON.stringify(code)} “${message}” as ${errorClass}`, async () => {
        const state = await poll({ done: true, error: { code, message } });
        expect(state).to.deep.equal({ kind: 'failed', errorClass, text: message });
      });

    it('reads a cancelled operation as cancelled', async () => {
      expect(await poll({ done: true, error: { code: 1, message: 'm' } })).to.deep.equal({
        kind: 'cancelled',
      });
    });

    it('is expired, refused for a 404, which the caller judges by the age of the job', async () => {
      vendor.play = (res) => sendJson(res, 404, { error: { code: 404, status: 'NOT_FOUND', message: 'm' } });
      const failure = await failureOf(Promise.resolve(veo.gemini.poll?.(GEMINI_JOB)));
      expect(verdictOf(failure)).to.equal('expired, refused');
    });
  });

  it('is downloaded with the key, and trusts no other origin with it', async () => {
    vendor.play = (res, { path }) =>
      path.startsWith('/v1beta')
        ? void res.writeHead(302, { location: '/elsewhere' }).end()
        : void res.end(VIDEO);
    const url = `${vendor.url}/v1beta/files/f:download?alt=media`;
    const limits = { handle: GEMINI_JOB, bytesMax: 1_000_000 };
    const { stream } = await fetchResult(veo.gemini, { kind: 'guarded_url', url }, limits);
    stream.destroy();
    expect(vendor.received.map(({ path }) => path)).to.deep.equal([
      '/v1beta/files/f:download?alt=media',
      '/elsewhere',
    ]);
    expect(vendor.received[0]?.headers['x-goog-api-key']).to.equal('google-key');
    expect(veo.gemini.trustsOrigin(new URL('https://storage.googleapis.com/video.mp4'))).to.equal(false);
  });
});

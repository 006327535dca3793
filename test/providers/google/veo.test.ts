// Veo: what is asked for on either service, how operations read, where the bytes are, and what refusals mean.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { JobHandle } from '../../../domain/jobs.ts';
import { fetchResult } from '../../../providers/http/fetch-result.ts';
import type { Provider, UpstreamJob } from '../../../providers/provider.ts';
import { createVeo } from '../../../providers/google/veo.ts';
import {
  failureOf,
  PNG,
  sendJson,
  startStandIn,
  verdictOf,
  videoJob,
  type Play,
  type StandIn,
} from '../stand-in.ts';

const BASE64 = PNG.toString('base64');
const DATA_URI = `data:image/png;base64,${BASE64}`;
const IMAGE = { bytesBase64Encoded: BASE64, mimeType: 'image/png' };
const VIDEO = readFileSync(new URL('../../../sandbox/assets/video-16x9.mp4', import.meta.url));
const PROJECT = '/v1/projects/p-1/locations/us-central1';
const RESOURCE = `${PROJECT.slice(4)}/publishers/google/models/veo-3.1-generate-001`;

describe('Veo videos', () => {
  let standIn: StandIn;
  let gemini: Provider;
  let vertex: Provider;
  let play: Play = (res) => sendJson(res, 200, {});

  before(async () => {
    standIn = await startStandIn((res, req) => play(res, req));
    const providerAt = (path: string): Provider =>
      createVeo({
        baseUrl: standIn.url + path,
        credentials: [{ id: 'default', key: 'google-key' }],
        upstreamTimeoutMs: 2_000,
      });
    gemini = providerAt('/v1beta');
    vertex = providerAt(PROJECT);
  });
  after(() => standIn.close());
  beforeEach(() => {
    standIn.received.length = 0;
  });

  const job = (changes: Partial<UpstreamJob['order']> = {}, inputImages: string[] = []): UpstreamJob =>
    videoJob({
      upstreamModel: 'veo-3.1-generate-001',
      order: { ...videoJob().order, seconds: 6, resolution: '720p', audio: true, ...changes },
      inputImages,
    });
  const body = (): unknown => JSON.parse(String(standIn.received.at(-1)?.body));
  const handleOf = (dialect: string, operation: string): JobHandle => {
    return { id: 'op-1', credential: 'default', dialect, operation, model: 'veo-3.1-generate-001' };
  };
  const GEMINI_JOB = handleOf('gemini', 'models/veo-3.1-generate-001/operations/op-1');
  const VERTEX_JOB = handleOf('vertex', `${RESOURCE}/operations/op-1`);

  describe('submit', () => {
    async function send(provider: Provider, ordered: UpstreamJob, name = 'models/m/operations/op-1') {
      play = (res) => sendJson(res, 200, { name }, { 'x-request-id': 'req_1' });
      return provider.submit(ordered);
    }
    const PARAMETERS = { durationSeconds: 6, sampleCount: 1, resolution: '720p', aspectRatio: '16:9' };

    it('is asked for in concrete values on the Gemini API, with the key in a header', async () => {
      await send(gemini, job());
      const [{ method, path, headers } = { method: '', path: '', headers: {} }] = standIn.received;
      const expected = ['POST', '/v1beta/models/veo-3.1-generate-001:predictLongRunning'];
      expect([method, path]).to.deep.equal(expected);
      expect(headers).to.include({ 'x-goog-api-key': 'google-key' }).and.not.have.property('authorization');
      const instances = [{ prompt: 'a cat that runs' }];
      expect(body()).to.deep.equal({ instances, parameters: PARAMETERS });
    });

    it('says on Vertex whether sound is wanted, and proves itself with a token', async () => {
      await send(vertex, job({ audio: false }));
      const [{ path, headers } = { path: '', headers: {} }] = standIn.received;
      expect(path).to.equal(`/v1/${RESOURCE}:predictLongRunning`);
      expect(headers)
        .to.include({ authorization: 'Bearer google-key' })
        .and.not.have.property('x-goog-api-key');
      expect(body()).to.deep.include({ parameters: { ...PARAMETERS, generateAudio: false } });
    });

    it('has one image as its first frame and two as its first and last', async () => {
      await send(gemini, job({ imageRole: 'first_frame' }, [DATA_URI]));
      expect(body()).to.have.deep.property('instances', [{ prompt: 'a cat that runs', image: IMAGE }]);
      await send(gemini, job({ imageRole: 'first_and_last_frame' }, [DATA_URI, DATA_URI]));
      const instance = { prompt: 'a cat that runs', image: IMAGE, lastFrame: IMAGE };
      expect(body()).to.have.deep.property('instances', [instance]);
    });

    it('has images as references', async () => {
      await send(vertex, job({ imageRole: 'references' }, [DATA_URI, DATA_URI]));
      const reference = { image: IMAGE, referenceType: 'asset' };
      const instance = { prompt: 'a cat that runs', referenceImages: [reference, reference] };
      expect(body()).to.have.deep.property('instances', [instance]);
    });

    it('answers with a handle whose id does not tell the operator’s project', async () => {
      expect(await send(vertex, job(), `${RESOURCE}/operations/op-1`)).to.deep.equal({
        kind: 'accepted',
        handle: VERTEX_JOB,
        upstreamRequestId: 'req_1',
      });
    });

    for (const json of [
      {},
      null,
      [],
      { name: '' },
      { name: 7 },
      { name: '../../keys' },
      { name: 'a?b' },
      { name: '/a' },
    ])
      it(`has no operation in ${JSON.stringify(json)}`, async () => {
        play = (res) => sendJson(res, 200, json);
        expect(verdictOf(await failureOf(gemini.submit(job())))).to.equal('invalid_response, unknown');
      });
  });

  describe('submit, refused', () => {
    const refusal = (code: number, status: string, message: string, details?: object[]) => ({
      status: code,
      body: { error: { code, message, status, details } },
    });
    const cases: Record<string, [ReturnType<typeof refusal>, string]> = {
      'for a bad field': [refusal(400, 'INVALID_ARGUMENT', 'Bad duration.'), 'invalid, refused'],
      'for a wrong key': [
        refusal(400, 'INVALID_ARGUMENT', 'API key not valid. Please …'),
        'auth, not_received',
      ],
      'for a wrong token': [refusal(401, 'UNAUTHENTICATED', 'Invalid credentials.'), 'auth, not_received'],
      'for want of billing': [
        refusal(403, 'PERMISSION_DENIED', 'This API method requires billing to be enabled.'),
        'quota, not_received',
      ],
      'for a spending cap': [
        refusal(429, 'RESOURCE_EXHAUSTED', 'Your project has exceeded its spending cap.'),
        'quota, not_received',
      ],
      'for too many at once': [
        refusal(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded for concurrent requests.'),
        'concurrency, not_received',
      ],
      'by the rules for content': [
        refusal(
          400,
          'INVALID_ARGUMENT',
          "The prompt contains words that violate Google's Responsible AI practices.",
        ),
        'moderation, refused',
      ],
      'for a model that is gone': [
        refusal(404, 'NOT_FOUND', 'Publisher Model was not found.'),
        'model_retired, refused',
      ],
    };
    for (const [title, [{ status, body: json }, verdict]] of Object.entries(cases))
      it(`${title} is ${verdict}`, async () => {
        play = (res) => sendJson(res, status, json);
        expect(verdictOf(await failureOf(gemini.submit(job())))).to.equal(verdict);
      });

    it('does not tell the operator’s project, by name or by number', async () => {
      const message = `Publisher Model ${RESOURCE} was not found in project p-1 (project number: 123456789).`;
      const told =
        'Publisher Model projects/…/locations/us-central1/publishers/google/models/veo-3.1-generate-001 ' +
        'was not found in project … (project number: …).';
      play = (res) => sendJson(res, 404, refusal(404, 'NOT_FOUND', message).body);
      expect(await failureOf(vertex.submit(job()))).to.include({ errorClass: 'model_retired', text: told });
      play = (res) => sendJson(res, 200, { done: true, error: { code: 13, message } });
      expect(await vertex.poll?.(VERTEX_JOB)).to.include({ errorClass: 'transient', text: told });
    });

    it('for too many requests, tells in the body how long to wait', async () => {
      const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }];
      const { status, body: json } = refusal(429, 'RESOURCE_EXHAUSTED', 'Try again.', details);
      play = (res) => sendJson(res, status, json);
      expect(await failureOf(gemini.submit(job()))).to.include({ errorClass: 'rate', retryAfterMs: 34_500 });
    });
  });

  describe('poll', () => {
    const poll = async (json: unknown, provider = gemini, handle = GEMINI_JOB) => {
      play = (res) => sendJson(res, 200, json);
      return provider.poll?.(handle);
    };
    const done = (response: object) => ({ name: 'n', done: true, response });

    it('is a GET of the operation on the Gemini API', async () => {
      await poll({});
      const [{ method, path } = { method: '', path: '' }] = standIn.received;
      expect([method, path]).to.deep.equal(['GET', '/v1beta/models/veo-3.1-generate-001/operations/op-1']);
    });

    it('is a POST with the operation’s name on Vertex', async () => {
      await poll({}, vertex, VERTEX_JOB);
      const [{ method, path } = { method: '', path: '' }] = standIn.received;
      expect([method, path]).to.deep.equal(['POST', `/v1/${RESOURCE}:fetchPredictOperation`]);
      expect(body()).to.deep.equal({ operationName: `${RESOURCE}/operations/op-1` });
    });

    it('is not asked for at the other service, which knows nothing of it', async () => {
      expect(verdictOf(await failureOf(poll({}, vertex, GEMINI_JOB)))).to.equal('expired, refused');
      expect(standIn.received).to.deep.equal([]);
    });

    it('reads whatever is not done as running', async () => {
      for (const json of [{}, [], null, { done: false }, { done: 'true' }, { name: 'n', metadata: {} }])
        expect(await poll(json)).to.deep.equal({ kind: 'running', progress: null });
    });

    it('reads a sample of the Gemini API as a link that needs the key', async () => {
      const url = `${standIn.url}/v1beta/files/f:download?alt=media`;
      const generatedSamples = [{ video: { uri: url } }, { video: { uri: 'https://example.com/2' } }];
      expect(await poll(done({ generateVideoResponse: { generatedSamples } }))).to.deep.equal({
        kind: 'succeeded',
        results: [{ kind: 'guarded_url', url }],
        evidence: {},
      });
    });

    it('reads a video of Vertex from the answer itself', async () => {
      const videos = [{ bytesBase64Encoded: VIDEO.toString('base64'), mimeType: 'video/mp4' }];
      const state = await poll(done({ raiMediaFilteredCount: 0, videos }), vertex, VERTEX_JOB);
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
        expect(await poll(done({ videos: [video] }), vertex, VERTEX_JOB)).to.deep.equal(failed);
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
      expect(await poll(done(filtered), vertex, VERTEX_JOB)).to.deep.equal(withWords);
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
      play = (res) => sendJson(res, 404, { error: { code: 404, status: 'NOT_FOUND', message: 'm' } });
      const failure = await failureOf(Promise.resolve(gemini.poll?.(GEMINI_JOB)));
      expect(verdictOf(failure)).to.equal('expired, refused');
    });
  });

  it('is downloaded with the key, and trusts no other origin with it', async () => {
    play = (res, { path }) =>
      path.startsWith('/v1beta')
        ? void res.writeHead(302, { location: '/elsewhere' }).end()
        : void res.end(VIDEO);
    const url = `${standIn.url}/v1beta/files/f:download?alt=media`;
    const limits = { handle: GEMINI_JOB, bytesMax: 1_000_000 };
    const { stream } = await fetchResult(gemini, { kind: 'guarded_url', url }, limits);
    stream.destroy();
    expect(standIn.received.map(({ path }) => path)).to.deep.equal([
      '/v1beta/files/f:download?alt=media',
      '/elsewhere',
    ]);
    expect(standIn.received[0]?.headers['x-goog-api-key']).to.equal('google-key');
    expect(gemini.trustsOrigin(new URL('https://storage.googleapis.com/video.mp4'))).to.equal(false);
  });
});

// Veo: what is asked for on either service, and what refusals mean.
import { expect } from 'chai';
import type { Provider, UpstreamJob } from '../../../providers/provider.ts';
import { failureOf, PNG, sendJson, verdictOf } from '../stand-in.ts';
import { describeVeo, RESOURCE, veoJob, VERTEX_JOB } from './veo-support.ts';

const BASE64 = PNG.toString('base64');
const DATA_URI = `data:image/png;base64,${BASE64}`;
const IMAGE = { bytesBase64Encoded: BASE64, mimeType: 'image/png' };

describeVeo((veo) => {
  const { vendor, body } = veo;

  describe('submit', () => {
    async function send(provider: Provider, ordered: UpstreamJob, name = 'models/m/operations/op-1') {
      vendor.play = (res) => sendJson(res, 200, { name }, { 'x-request-id': 'req_1' });
      return provider.submit(ordered);
    }
    const PARAMETERS = { durationSeconds: 6, sampleCount: 1, resolution: '720p', aspectRatio: '16:9' };

    it('is asked for in concrete values on the Gemini API, with the key in a header', async () => {
      await send(veo.gemini, veoJob());
      const [{ method, path, headers } = { method: '', path: '', headers: {} }] = vendor.received;
      const expected = ['POST', '/v1beta/models/veo-3.1-generate-001:predictLongRunning'];
      expect([method, path]).to.deep.equal(expected);
      expect(headers).to.include({ 'x-goog-api-key': 'google-key' }).and.not.have.property('authorization');
      const instances = [{ prompt: 'a cat that runs' }];
      expect(body()).to.deep.equal({ instances, parameters: PARAMETERS });
    });

    it('says what must not be seen, where that is ordered', async () => {
      await send(veo.gemini, { ...veoJob(), negativePrompt: 'rain' });
      expect(body()).to.deep.include({ parameters: { ...PARAMETERS, negativePrompt: 'rain' } });
    });

    it('says on Vertex whether sound is wanted, and proves itself with a token', async () => {
      await send(veo.vertex, veoJob({ audio: false }));
      const [{ path, headers } = { path: '', headers: {} }] = vendor.received;
      expect(path).to.equal(`/v1/${RESOURCE}:predictLongRunning`);
      expect(headers)
        .to.include({ authorization: 'Bearer google-key' })
        .and.not.have.property('x-goog-api-key');
      expect(body()).to.deep.include({ parameters: { ...PARAMETERS, generateAudio: false } });
    });

    it('has one image as its first frame and two as its first and last', async () => {
      await send(veo.gemini, veoJob({ imageRole: 'first_frame' }, [DATA_URI]));
      expect(body()).to.have.deep.property('instances', [{ prompt: 'a cat that runs', image: IMAGE }]);
      await send(veo.gemini, veoJob({ imageRole: 'first_and_last_frame' }, [DATA_URI, DATA_URI]));
      const instance = { prompt: 'a cat that runs', image: IMAGE, lastFrame: IMAGE };
      expect(body()).to.have.deep.property('instances', [instance]);
    });

    it('has images as references', async () => {
      await send(veo.vertex, veoJob({ imageRole: 'references' }, [DATA_URI, DATA_URI]));
      const reference = { image: IMAGE, referenceType: 'asset' };
      const instance = { prompt: 'a cat that runs', referenceImages: [reference, reference] };
      expect(body()).to.have.deep.property('instances', [instance]);
    });

    it('answers with a handle whose id does not tell the operator’s project', async () => {
      expect(await send(veo.vertex, veoJob(), `${RESOURCE}/operations/op-1`)).to.deep.equal({
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
        vendor.play = (res) => sendJson(res, 200, json);
        expect(verdictOf(await failureOf(veo.gemini.submit(veoJob())))).to.equal('invalid_response, unknown');
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
        vendor.play = (res) => sendJson(res, status, json);
        expect(verdictOf(await failureOf(veo.gemini.submit(veoJob())))).to.equal(verdict);
      });

    it('does not tell the operator’s project, by name or by number', async () => {
      const message = `Publisher Model ${RESOURCE} was not found in project p-1 (project number: 123456789).`;
      const told =
        'Publisher Model projects/…/locations/us-central1/publishers/google/models/veo-3.1-generate-001 ' +
        'was not found in project … (project number: …).';
      vendor.play = (res) => sendJson(res, 404, refusal(404, 'NOT_FOUND', message).body);
      expect(await failureOf(veo.vertex.submit(veoJob()))).to.include({
        errorClass: 'model_retired',
        text: told,
      });
      vendor.play = (res) => sendJson(res, 200, { done: true, error: { code: 13, message } });
      expect(await veo.vertex.poll?.(VERTEX_JOB)).to.include({ errorClass: 'transient', text: told });
    });

    it('for too many requests, tells in the body how long to wait', async () => {
      const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }];
      const { status, body: json } = refusal(429, 'RESOURCE_EXHAUSTED', 'Try again.', details);
      vendor.play = (res) => sendJson(res, status, json);
      expect(await failureOf(veo.gemini.submit(veoJob()))).to.include({
        errorClass: 'rate',
        retryAfterMs: 34_500,
      });
    });
  });
});

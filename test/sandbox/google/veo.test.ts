// Veo as the sandbox plays it on both of Google's services, and as Google's own client finds it.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ApiError,
  GoogleGenAI,
  type GenerateVideosOperation,
  VideoGenerationReferenceType,
} from '@google/genai';
import { expect } from 'chai';
import { SENSITIVE_PARTS } from '../../../sandbox/error-text.ts';
import {
  ask,
  at,
  type HttpAnswer,
  type Json,
  newPrompt,
  readJobs,
  readJournal,
  useSandbox,
} from '../support.ts';

const MODEL = 'veo-3.1-generate-preview';
const PROJECT = '/google/v1/projects/p-1/locations/us-central1';
const IMAGE = { bytesBase64Encoded: 'iVBORw0KGgo=', mimeType: 'image/png' };
const REFERENCE = { image: IMAGE, referenceType: 'asset' };

describe('sandbox: Veo', () => {
  const sandbox = useSandbox();

  async function send(
    path: string,
    options: { body?: Json; headers?: Record<string, string> } = {},
  ): Promise<HttpAnswer> {
    const { body, headers = { 'x-goog-api-key': 'AIza-test' } } = options;
    return ask(path.startsWith('http') ? path : sandbox().url + path, {
      method: body === undefined ? 'GET' : 'POST',
      key: null,
      headers,
      ...(body === undefined ? {} : { body }),
    });
  }

  const order = (directives: string, parameters: Json = {}, instance: Json = {}): Json => {
    return { instances: [{ prompt: newPrompt(directives).prompt, ...instance }], parameters };
  };

  const submit = (body: Json, model = MODEL): Promise<HttpAnswer> =>
    send(`/google/v1beta/models/${model}:predictLongRunning`, { body });

  async function start(directives: string, parameters: Json = {}): Promise<string> {
    const answer = await submit(order(directives, parameters));
    expect(answer.status, answer.text).to.equal(200);
    return String(answer.body['name']);
  }

  const poll = (name: string): Promise<HttpAnswer> => send(`/google/v1beta/${name}`);

  const finish = async (directives: string): Promise<HttpAnswer> =>
    poll(await start(`seconds=0 ${directives}`));

  const headers = { authorization: 'Bearer ya29.test' };

  describe('on Vertex', () => {
    const model = `${PROJECT}/publishers/google/models/veo-3.1-generate-001`;

    it('takes a token, is polled by POST, and answers with the video itself', async () => {
      const body = order('seconds=0', { generateAudio: false, sampleCount: 1 });
      expect((await send(`${model}:predictLongRunning`, { body })).status).to.equal(401);
      const { body: created } = await send(`${model}:predictLongRunning`, { body, headers });
      const operationName = String(created['name']);
      expect(operationName).to.match(
        /^projects\/p-1\/locations\/us-central1\/publishers\/google\/models\/.*\/operations\/[\w-]+$/,
      );
      const { body: done } = await send(`${model}:fetchPredictOperation`, {
        body: { operationName },
        headers,
      });
      const video = Buffer.from(String(at(done, 'response.videos.0.bytesBase64Encoded')), 'base64');
      expect(video.toString('latin1', 4, 8)).to.equal('ftyp');
      const other = { operationName: operationName.replace('p-1', 'p-2') };
      expect((await send(`${model}:fetchPredictOperation`, { body: other, headers })).status).to.equal(400);
    });

    it('gives a token for a well-made assertion alone', async () => {
      const now = Math.floor(Date.now() / 1000);
      const aud = `${sandbox().url}/google/token`;
      const good = { iss: 'svc@p.example', scope: 's', aud, iat: now, exp: now + 3_600 };
      const exchange = async (claims: object, alg = 'RS256'): Promise<Response> => {
        const write = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
        const assertion = `${write({ alg, typ: 'JWT' })}.${write(claims)}.signature`;
        const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
        return fetch(aud, { method: 'POST', body: new URLSearchParams({ grant_type, assertion }) });
      };
      expect(await (await exchange(good)).json()).to.include({ expires_in: 3_599, token_type: 'Bearer' });
      for (const claims of [
        { iss: 'x' },
        { aud: 'https://example.com' },
        { exp: now - 1 },
        { exp: now + 9_999 },
      ])
        expect((await exchange({ ...good, ...claims })).status, JSON.stringify(claims)).to.equal(400);
      expect((await exchange(good, 'HS256')).status).to.equal(400);
    });
  });

  describe("Google's own client", () => {
    let folder = '';
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'svc-gateway-veo-'));
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    const gemini = (): GoogleGenAI =>
      new GoogleGenAI({ apiKey: 'AIza-test', httpOptions: { baseUrl: `${sandbox().url}/google` } });

    it('makes a video on the Gemini API from two frames, polls it and downloads it', async () => {
      const { prompt, marker } = newPrompt('seconds=0');
      const frame = { imageBytes: IMAGE.bytesBase64Encoded, mimeType: 'image/png' };
      const started = await gemini().models.generateVideos({
        model: MODEL,
        source: { prompt, image: frame },
        config: {
          lastFrame: frame,
          durationSeconds: 8,
          resolution: '1080p',
          aspectRatio: '9:16',
          numberOfVideos: 1,
        },
      });
      expect(started.done).to.not.equal(true);
      const operation = await gemini().operations.getVideosOperation({ operation: started });
      const [generated] = operation.response?.generatedVideos ?? [];
      // The client recognizes a file's name only in a link with TLS.
      const uri = generated?.video?.uri?.replace('http:', 'https:') ?? '';
      const downloadPath = join(folder, 'video.mp4');
      await gemini().files.download({ file: { video: { uri } }, downloadPath });
      expect(readFileSync(downloadPath).toString('latin1', 4, 8)).to.equal('ftyp');
      const [job] = await readJobs(sandbox(), marker);
      expect(job?.['ordered']).to.include({ durationSeconds: 8, resolution: '1080p', inputImages: 2 });
      const operations = (await readJournal(sandbox(), marker)).map(({ operation: word }) => word);
      expect(operations).to.eql(['submit', 'poll', 'download', 'download']);
    });

    it('throws errors of the request, and reports those of the operation', async () => {
      const generate = (directives: string): Promise<GenerateVideosOperation> =>
        gemini().models.generateVideos({ model: MODEL, source: { prompt: newPrompt(directives).prompt } });
      const refused = await generate('submit=429').catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(ApiError).with.property('status', 429);
      const failed = await gemini().operations.getVideosOperation({
        operation: await generate('seconds=0 outcome=fail'),
      });
      expect(failed.error).to.include({ code: 13 });
      const filtered = await gemini().operations.getVideosOperation({
        operation: await generate('seconds=0 outcome=moderated'),
      });
      expect(filtered.response).to.include({ raiMediaFilteredCount: 1 });
    });

    it('makes a video on Vertex from references, and has it in the answer', async () => {
      const vertex = new GoogleGenAI({
        vertexai: true,
        project: 'p-1',
        location: 'us-central1',
        httpOptions: { baseUrl: `${sandbox().url}/google`, apiVersion: 'v1', headers },
        // Keeps the client from asking Google for a token.
        googleAuthOptions: { apiKey: 'unused' },
      });
      const image = { imageBytes: IMAGE.bytesBase64Encoded, mimeType: 'image/png' };
      const started = await vertex.models.generateVideos({
        model: 'veo-3.1-generate-001',
        source: { prompt: newPrompt('seconds=0').prompt },
        config: {
          referenceImages: [{ image, referenceType: VideoGenerationReferenceType.ASSET }],
          generateAudio: false,
        },
      });
      const operation = await vertex.operations.getVideosOperation({ operation: started });
      const bytes = operation.response?.generatedVideos?.[0]?.video?.videoBytes ?? '';
      expect(Buffer.from(bytes, 'base64').toString('latin1', 4, 8)).to.equal('ftyp');
    });
  });

  describe('POST /v1beta/models/{model}:predictLongRunning', () => {
    const refusals: [parameters: Json, instance: Json, model: string, field: string][] = [
      [{ durationSeconds: 5 }, {}, MODEL, 'durationSeconds'],
      [{ durationSeconds: 6, resolution: '1080p' }, {}, MODEL, 'durationSeconds'],
      [{ durationSeconds: 4 }, { referenceImages: [REFERENCE] }, MODEL, 'durationSeconds'],
      [{ resolution: '480p' }, {}, MODEL, 'resolution'],
      [{ resolution: '4k' }, {}, 'veo-3.1-lite-generate-001', 'resolution'],
      [{ aspectRatio: '1:1' }, {}, MODEL, 'aspectRatio'],
      [{ sampleCount: 2 }, {}, MODEL, 'sampleCount'],
      [{ generateAudio: true }, {}, MODEL, 'parameters.generateAudio'],
      [{}, { prompt: '' }, MODEL, 'instances[0].prompt'],
      [
        {},
        { image: { uri: 'https://example.com/a.png', mimeType: 'image/png' } },
        MODEL,
        'instances[0].image',
      ],
      [{}, { image: { ...IMAGE, mimeType: 'image/gif' } }, MODEL, 'instances[0].image.mimeType'],
      [{}, { lastFrame: IMAGE }, MODEL, 'instances[0].lastFrame'],
      [
        {},
        { referenceImages: [REFERENCE, REFERENCE, REFERENCE, REFERENCE] },
        MODEL,
        'instances[0].referenceImages',
      ],
      [{}, { style: 'noir' }, MODEL, 'instances[0].style'],
    ];

    for (const [parameters, instance, model, field] of refusals)
      it(`refuses ${JSON.stringify({ ...parameters, ...instance }).slice(0, 70)} and names the field`, async () => {
        const answer = await submit(order('', parameters, instance), model);
        expect(answer.status).to.equal(400);
        expect(at(answer.body, 'error.status')).to.equal('INVALID_ARGUMENT');
        expect(at(answer.body, 'error.details.0.fieldViolations.0.field')).to.equal(field);
      });

    it('knows no other model, and no wrong key', async () => {
      expect((await submit(order(''), 'veo-9')).status).to.equal(404);
      const path = `/google/v1beta/models/${MODEL}:predictLongRunning`;
      expect((await send(path, { body: order(''), headers: {} })).status).to.equal(403);
      const wrong = await send(path, { body: order(''), headers: { 'x-goog-api-key': 'invalid' } });
      expect(at(wrong.body, 'error.details.0.reason')).to.equal('API_KEY_INVALID');
    });
  });

  describe('operations', () => {
    it('is under way without `done`, and then has a file that redirects a client with the key', async () => {
      const name = await start('seconds=600');
      expect(name).to.match(new RegExp(`^models/${MODEL}/operations/\\w+$`));
      expect((await poll(name)).body).to.deep.equal({ name });
      const done = await finish('');
      expect(done.body['done']).to.equal(true);
      const uri = String(at(done.body, 'response.generateVideoResponse.generatedSamples.0.video.uri'));
      expect(uri).to.match(/\/v1beta\/files\/\w+:download\?alt=media$/);
      expect((await send(uri, { headers: {} })).status).to.equal(403);
      const hop = await send(uri);
      expect(hop.status).to.equal(302);
      const file = await send(hop.headers.get('location') ?? '', { headers: {} });
      expect(file.headers.get('content-type')).to.equal('video/mp4');
    });

    for (const [directives, code] of [
      ['outcome=fail', 13],
      ['outcome=fail reason=invalid', 3],
      ['outcome=fail reason=quota', 8],
      ['outcome=fail reason=concurrency', 8],
      ['outcome=fail reason=moderation', 3],
      ['outcome=cancelled', 1],
    ] as const)
      it(`is done with the error ${code} with ${directives}`, async () => {
        const { status, body } = await finish(directives);
        expect(status).to.equal(200);
        expect(body).to.include({ done: true }).and.not.have.property('response');
        expect(at(body, 'error.code')).to.equal(code);
      });

    it('is done without samples when they were filtered, and gone when it expired', async () => {
      const answer = at((await finish('outcome=moderated')).body, 'response.generateVideoResponse');
      expect(answer).to.include({ raiMediaFilteredCount: 1 }).and.not.have.property('generatedSamples');
      expect((await finish('outcome=expire')).status).to.equal(404);
    });

    it('shows internal details with text=leaky', async () => {
      const texts = [
        at((await finish('outcome=fail text=leaky')).body, 'error.message'),
        at(
          (await finish('outcome=moderated text=leaky')).body,
          'response.generateVideoResponse.raiMediaFilteredReasons.0',
        ),
        at((await submit(order('submit=500 text=leaky'))).body, 'error.message'),
      ];
      for (const part of Object.values(SENSITIVE_PARTS))
        for (const text of texts) expect(text).to.contain(part);
    });
  });
});

// Gemini images as the sandbox plays them, and as Google's own client finds them.

import { ApiError, GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import {
  ask,
  at,
  expectSensitive,
  type HttpAnswer,
  type Json,
  newPrompt,
  readJobs,
  useSandbox,
} from '../support.ts';

const MODEL = 'gemini-nano-banana-2.1';

describe('sandbox: Gemini images', () => {
  const sandbox = useSandbox();

  function generate(body: Json, options: { model?: string; key?: string | null } = {}): Promise<HttpAnswer> {
    const { model = MODEL, key = 'AIza-test' } = options;
    return ask(`${sandbox().url}/google/v1beta/models/${model}:generateContent`, {
      method: 'POST',
      key: null,
      headers: key === null ? {} : { 'x-goog-api-key': key },
      body,
    });
  }

  function requestWith(directives: string, imageConfig: Json = {}, config: Json = {}): Json {
    const parts = [{ text: newPrompt(`seconds=0 ${directives}`).prompt }];
    const generationConfig = { responseModalities: ['IMAGE'], imageConfig, ...config };
    return { contents: [{ role: 'user', parts }], generationConfig };
  }

  const paint = (directives: string, imageConfig: Json = {}, config: Json = {}): Promise<HttpAnswer> =>
    generate(requestWith(directives, imageConfig, config));

  const partsOf = ({ body }: HttpAnswer): Json[] => {
    const parts = at(body, 'candidates.0.content.parts');
    return Array.isArray(parts) ? parts : [];
  };

  describe("to Google's own client", () => {
    const client = (apiKey = 'AIza-test'): GoogleGenAI =>
      new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${sandbox().url}/google` } });

    it('makes an image from a text and an image', async () => {
      const { prompt, marker } = newPrompt('seconds=0');
      const answer = await client().models.generateContent({
        model: 'gemini-3-pro-image',
        contents: [{ text: prompt }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
        config: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '16:9', imageSize: '4K' } },
      });
      const pictures = (answer.candidates?.[0]?.content?.parts ?? []).filter(
        ({ inlineData, thought }) => inlineData && !thought,
      );
      expect(pictures.map(({ inlineData }) => inlineData?.mimeType)).to.eql(['image/png']);
      expect(answer.data).to.match(/^iVBOR/);
      expect(answer.usageMetadata?.candidatesTokenCount).to.equal(2520);
      const [job] = await readJobs(sandbox(), marker);
      expect(job?.['ordered']).to.include({ aspectRatio: '16:9', imageSize: '4K', inputImages: 1 });
    });

    it('reports why an image was blocked', async () => {
      const contents = newPrompt('seconds=0 outcome=fail reason=moderation').prompt;
      const answer = await client().models.generateContent({ model: MODEL, contents });
      expect(answer.promptFeedback?.blockReason).to.equal('PROHIBITED_CONTENT');
    });

    it('throws its own error with the status', async () => {
      const fail = async (directives: string, apiKey?: string): Promise<unknown> =>
        client(apiKey)
          .models.generateContent({ model: MODEL, contents: newPrompt(`seconds=0 ${directives}`).prompt })
          .catch((error: unknown) => error);
      for (const [error, status] of [
        [await fail('', 'invalid'), 400],
        [await fail('submit=400'), 400],
        [await fail('submit=403'), 403],
      ] as const)
        expect(error).to.be.instanceOf(ApiError).with.property('status', status);
    });
  });

  describe('requests', () => {
    it('takes the key as a header or in the address, and refuses a wrong one as Google does', async () => {
      expect(await generate(requestWith(''), { key: null })).to.have.nested.property('body.error.code', 403);
      const wrong = await generate(requestWith(''), { key: 'invalid' });
      expect(wrong.status).to.equal(400);
      expect(at(wrong.body, 'error.details.0.reason')).to.equal('API_KEY_INVALID');
      const url = `${sandbox().url}/google/v1beta/models/${MODEL}:generateContent?key=AIza`;
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(requestWith('')) });
      expect(response.status).to.equal(200);
    });

    const refusals: [title: string, imageConfig: Json, config: Json, field: string][] = [
      ['a small k', { imageSize: '2k' }, {}, 'imageSize'],
      ['a ratio it has not', { aspectRatio: '2:1' }, {}, 'aspectRatio'],
      ['an unknown option', { outputFormat: 'webp' }, {}, 'outputFormat'],
      ['two candidates', {}, { candidateCount: 2 }, 'candidate_count'],
      ['sound', {}, { responseModalities: ['AUDIO'] }, 'response_modalities'],
      ['text alone', {}, { responseModalities: ['TEXT'] }, 'response_modalities'],
    ];

    for (const [title, imageConfig, config, field] of refusals)
      it(`refuses ${title} and names the field`, async () => {
        const answer = await paint('', imageConfig, config);
        expect([answer.status, at(answer.body, 'error.status')]).to.eql([400, 'INVALID_ARGUMENT']);
        expect(at(answer.body, 'error.details.0.fieldViolations.0.field')).to.contain(field);
      });

    it('refuses input images that are none', async () => {
      for (const inlineData of [
        { mimeType: 'image/gif', data: 'AAAA' },
        { mimeType: 'image/png', data: 'data:image/png;base64,AAAA' },
      ]) {
        const contents = [{ parts: [{ text: 'a fox' }, { inlineData }] }];
        expect((await generate({ contents })).status).to.equal(400);
      }
    });

    it('has not the ratios of the flash models on the pro model, nor a model that ended', async () => {
      const wide = requestWith('', { aspectRatio: '8:1' });
      expect((await generate(wide)).status).to.equal(200);
      expect((await generate(wide, { model: 'gemini-3-pro-image' })).status).to.equal(400);
      expect((await generate(wide, { model: 'gemini-2.5-flash-image' })).status).to.equal(404);
    });
  });

  describe('answers', () => {
    it('shows a thought, a draft and then the picture in the proportions ordered', async () => {
      const answer = await paint('', { aspectRatio: '21:9', imageSize: '2K' });
      expect(answer.status, answer.text).to.equal(200);
      const [thought, draft, picture] = partsOf(answer);
      expect(thought).to.include({ thought: true });
      expect(draft).to.include({ thought: true }).and.have.property('inlineData');
      expect(picture).not.to.have.property('thought');
      const png = Buffer.from(String(at(picture, 'inlineData.data')), 'base64');
      expect(png.readUInt32BE(16) / png.readUInt32BE(20)).to.be.closeTo(21 / 9, 0.05);
      expect(at(answer.body, 'candidates.0.finishReason')).to.equal('STOP');
      expect(at(answer.body, 'usageMetadata.candidatesTokenCount')).to.equal(1680);
      expect(answer.body['modelVersion']).to.equal(MODEL);
    });

    it('has no thoughts where the model has none', async () => {
      const answer = await generate(requestWith(''), { model: 'gemini-3.1-flash-lite-image' });
      expect(partsOf(answer)).to.have.length(1);
    });

    it('blocks with status 200, at the prompt or at the picture', async () => {
      const prompt = await paint('outcome=fail reason=moderation');
      expect([prompt.status, at(prompt.body, 'promptFeedback.blockReason')]).to.eql([
        200,
        'PROHIBITED_CONTENT',
      ]);
      const picture = await paint('outcome=moderated');
      expect([picture.status, at(picture.body, 'candidates.0.finishReason')]).to.eql([200, 'IMAGE_SAFETY']);
      const nothing = await paint('deliver=0');
      expect(at(nothing.body, 'candidates.0.finishReason')).to.equal('NO_IMAGE');
    });

    for (const [directives, status, word] of [
      ['outcome=fail', 500, 'INTERNAL'],
      ['outcome=fail reason=invalid', 400, 'INVALID_ARGUMENT'],
      ['outcome=fail reason=quota', 429, 'RESOURCE_EXHAUSTED'],
      ['outcome=fail reason=concurrency', 429, 'RESOURCE_EXHAUSTED'],
      ['outcome=expire', 504, 'DEADLINE_EXCEEDED'],
      ['outcome=cancelled', 499, 'CANCELLED'],
      ['submit=503', 503, 'UNAVAILABLE'],
    ] as const)
      it(`answers ${status} ${word} with ${directives}, with internal details with text=leaky`, async () => {
        const answer = await paint(`${directives} text=leaky`);
        expect([answer.status, at(answer.body, 'error.code'), at(answer.body, 'error.status')]).to.eql([
          status,
          status,
          word,
        ]);
        expectSensitive(at(answer.body, 'error.message'));
      });

    it('says how long to wait in the body of a 429', async () => {
      const details = at((await paint('submit=429')).body, 'error.details.0');
      expect(details).to.include({ retryDelay: '1s' });
    });
  });
});

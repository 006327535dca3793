// Veo as the sandbox plays it on the Gemini API.

import { expect } from 'chai';
import { SENSITIVE_PARTS } from '../../../sandbox/error-text.ts';
import { at, type HttpAnswer, type Json } from '../support.ts';
import { IMAGE, MODEL, useVeo, veoOrder } from './veo-support.ts';

const REFERENCE = { image: IMAGE, referenceType: 'asset' };

describe('sandbox: Veo', () => {
  const { send } = useVeo();

  const submit = (body: Json, model = MODEL): Promise<HttpAnswer> =>
    send(`/google/v1beta/models/${model}:predictLongRunning`, { body });

  async function start(directives: string, parameters: Json = {}): Promise<string> {
    const answer = await submit(veoOrder(directives, parameters));
    expect(answer.status, answer.text).to.equal(200);
    return String(answer.body['name']);
  }

  const poll = (name: string): Promise<HttpAnswer> => send(`/google/v1beta/${name}`);

  const finish = async (directives: string): Promise<HttpAnswer> =>
    poll(await start(`seconds=0 ${directives}`));

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
        const answer = await submit(veoOrder('', parameters, instance), model);
        expect(answer.status).to.equal(400);
        expect(at(answer.body, 'error.status')).to.equal('INVALID_ARGUMENT');
        expect(at(answer.body, 'error.details.0.fieldViolations.0.field')).to.equal(field);
      });

    it('knows no other model, and no wrong key', async () => {
      expect((await submit(veoOrder(''), 'veo-9')).status).to.equal(404);
      const path = `/google/v1beta/models/${MODEL}:predictLongRunning`;
      expect((await send(path, { body: veoOrder(''), headers: {} })).status).to.equal(403);
      const wrong = await send(path, { body: veoOrder(''), headers: { 'x-goog-api-key': 'invalid' } });
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
        at((await submit(veoOrder('submit=500 text=leaky'))).body, 'error.message'),
      ];
      for (const part of Object.values(SENSITIVE_PARTS))
        for (const text of texts) expect(text).to.contain(part);
    });
  });
});

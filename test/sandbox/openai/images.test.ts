// OpenAI Images as the sandbox plays it: what is accepted, refused and delivered.

import { expect } from 'chai';
import { ask, at, newPrompt, readJobs } from '../support.ts';
import { picture, PNG_SIGNATURE, useOpenaiImages } from './images-support.ts';

describe('sandbox: OpenAI Images', () => {
  const { sandbox, url, generate } = useOpenaiImages();

  describe('POST /v1/images/generations', () => {
    it('answers with as many PNGs as ordered, in the proportions ordered', async () => {
      const answer = await generate('', { n: 2, size: '1360x768', quality: 'high' });
      expect(answer.status).to.equal(200);
      expect(answer.body['data']).to.have.length(2);
      expect(answer.body).to.include({
        size: '1360x768',
        quality: 'high',
        output_format: 'png',
        background: 'opaque',
      });
      const png = picture(answer);
      expect(png.toString('hex')).to.match(new RegExp(`^${PNG_SIGNATURE}`));
      expect(png.readUInt32BE(16) / png.readUInt32BE(20)).to.be.closeTo(1360 / 768, 0.02);
      expect(picture(answer, 1).equals(png)).to.equal(false);
      expect(at(answer.body, 'usage.output_tokens')).to.be.greaterThan(8000);
      expect(answer.headers.get('x-request-id')).to.be.a('string');
    });

    it('delivers JPEG and WebP where they are ordered', async () => {
      const jpeg = picture(await generate('', { output_format: 'jpeg' }));
      const webp = picture(await generate('', { output_format: 'webp' }));
      expect(jpeg.subarray(0, 3).toString('hex')).to.equal('ffd8ff');
      expect(webp.subarray(8, 12).toString()).to.equal('WEBP');
    });

    it('answers after the time of the directive seconds', async () => {
      const startedAt = Date.now();
      await generate('seconds=0.3');
      expect(Date.now() - startedAt).to.be.within(290, 2000);
    });

    for (const [field, value, code] of [
      ['response_format', 'b64_json', 'unknown_parameter'],
      ['model', 'gpt-image-9', 'invalid_value'],
      ['n', 11, 'integer_above_max_value'],
      ['n', 0, 'integer_below_min_value'],
      ['n', '2', 'invalid_type'],
      ['size', '3840x3840', 'invalid_value'],
      ['size', '1000x1000', 'invalid_value'],
      ['size', '3200x1024', 'invalid_value'],
      ['size', '512x512', 'invalid_value'],
      ['quality', 'max', 'invalid_value'],
      ['prompt', '', 'missing_required_parameter'],
      ['prompt', 'x'.repeat(32_001), 'string_above_max_length'],
      ['stream', true, 'unsupported_value'],
    ] as const) {
      it(`refuses ${field} ${JSON.stringify(value).slice(0, 20)} and names the field`, async () => {
        const answer = await generate('', { [field]: value });
        expect(answer.status).to.equal(400);
        expect(at(answer.body, 'error')).to.include({ type: 'invalid_request_error', param: field, code });
      });
    }

    it('knows only three sizes for the models of the first generation', async () => {
      expect((await generate('', { model: 'gpt-image-1', size: '1360x768' })).status).to.equal(400);
      expect((await generate('', { model: 'gpt-image-1', size: '1536x1024' })).status).to.equal(200);
    });

    it('refuses a broken form and a broken JSON body in its own shape', async () => {
      const headers = { authorization: 'Bearer k', 'content-type': 'multipart/form-data; boundary=x' };
      const form = await fetch(`${sandbox().url}/openai/v1/images/edits`, {
        method: 'POST',
        headers,
        body: 'nothing',
      });
      expect(form.status).to.equal(400);
      const answer = await ask(url(), { method: 'POST', body: '{"prompt": ' });
      expect(answer.status).to.equal(400);
      expect(at(answer.body, 'error.type')).to.equal('invalid_request_error');
    });

    it('wants a key, and refuses one that contains `invalid`', async () => {
      const body = { prompt: newPrompt('seconds=0').prompt };
      expect((await ask(url(), { method: 'POST', key: null, body })).status).to.equal(401);
      const invalid = await ask(url(), { method: 'POST', key: 'sk-invalid', body });
      expect(invalid.status).to.equal(401);
      expect(at(invalid.body, 'error.code')).to.equal('invalid_api_key');
    });

    it('refuses an unknown directive in its own shape and names the key', async () => {
      const answer = await generate('colour=red');
      expect(answer.status).to.equal(400);
      expect(at(answer.body, 'error.param')).to.equal('prompt');
      expect(at(answer.body, 'error.message')).to.contain("'colour'");
    });
  });

  describe('POST /v1/images/edits', () => {
    it('edits pictures that come as a form', async () => {
      const form = new FormData();
      const { prompt, marker } = newPrompt('seconds=0');
      form.set('prompt', prompt);
      form.set('model', 'gpt-image-2');
      form.set('n', '2');
      form.append('image[]', new Blob(['one'], { type: 'image/png' }), 'one.png');
      form.append('image[]', new Blob(['two'], { type: 'image/png' }), 'two.png');
      const answer = await ask(`${sandbox().url}/openai/v1/images/edits`, { method: 'POST', body: form });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body['data']).to.have.length(2);
      expect(at(await readJobs(sandbox(), marker), '0.ordered.inputImages')).to.equal(2);
    });

    it('edits pictures that come as JSON references', async () => {
      const images = [{ image_url: 'https://example.com/fox.png' }, { file_id: 'file-1' }];
      const body = { model: 'gpt-image-2', prompt: newPrompt('seconds=0').prompt, images };
      const edits = `${sandbox().url}/openai/v1/images/edits`;
      const answer = await ask(edits, { method: 'POST', body });
      expect(answer.status, answer.text).to.equal(200);
      const none = await ask(edits, { method: 'POST', body: { ...body, images: [] } });
      expect(at(none.body, 'error.code')).to.equal('missing_required_parameter');
      const broken = await ask(edits, {
        method: 'POST',
        body: { ...body, images: [{ image_url: 'fox.png' }] },
      });
      expect(at(broken.body, 'error.code')).to.equal('invalid_image_file');
    });
  });
});

// OpenAI Images as the sandbox plays it.

import { expect } from 'chai';
import {
  ask,
  at,
  eventually,
  expectSensitive,
  type HttpAnswer,
  isCutOff,
  type Json,
  newPrompt,
  readAtLeast,
  readJobs,
  readJournal,
  useSandbox,
} from '../support.ts';
import {
  itBreaksConnections,
  itDistortsUsage,
  itRefusesWithoutJob,
  type Submissions,
} from '../vendor-rules.ts';
import { OPENAI_REFUSALS, readOpenaiRefusal } from './refusals.ts';

const PNG_SIGNATURE = '89504e470d0a1a0a';

describe('sandbox: OpenAI Images', () => {
  const sandbox = useSandbox();

  const url = (): string => `${sandbox().url}/openai/v1/images/generations`;

  const generate = (directives: string, fields: Json = {}): Promise<HttpAnswer> =>
    ask(url(), {
      method: 'POST',
      body: { model: 'gpt-image-2', prompt: newPrompt(`seconds=0 ${directives}`).prompt, ...fields },
    });

  function picture(answer: HttpAnswer, index = 0): Buffer {
    return Buffer.from(String(at(answer.body, `data.${index}.b64_json`)), 'base64');
  }

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

  describe('the directive submit', () => {
    const submissions: Submissions = {
      sandbox,
      submit: (prompt) => ask(url(), { method: 'POST', body: { prompt } }),
    };

    itRefusesWithoutJob(submissions, OPENAI_REFUSALS, readOpenaiRefusal);

    it('refuses twice and then accepts with submit=429*2', async () => {
      const body = { prompt: newPrompt('seconds=0 submit=429*2').prompt };
      const statuses: number[] = [];
      for (const _ of [1, 2, 3]) statuses.push((await ask(url(), { method: 'POST', body })).status);
      expect(statuses).to.eql([429, 429, 200]);
    });

    itBreaksConnections(submissions);

    it('answers with a page for submit=html and without pictures for submit=no_id', async () => {
      const page = await generate('submit=html');
      expect(page.headers.get('content-type')).to.contain('text/html');
      expect((await generate('submit=no_id')).body).to.have.all.keys('created');
    });
  });

  describe('the directives outcome and text', () => {
    for (const directives of ['submit=hang', 'outcome=stuck']) {
      it(`never answers ${directives}, and the journal says when the client disconnected`, async () => {
        const { prompt, marker } = newPrompt(directives);
        const leaving = new AbortController();
        const asking = isCutOff(ask(url(), { method: 'POST', body: { prompt }, signal: leaving.signal }));
        const [waiting] = await eventually(async () => {
          const entries = await readJournal(sandbox(), marker);
          return entries.length > 0 ? entries : undefined;
        });
        expect(waiting).to.include({ status: null, clientClosedAt: null, vendor: 'openai' });
        leaving.abort();
        expect(await asking).to.equal(true);
        const closedAt = await eventually(async () => {
          const [entry] = await readJournal(sandbox(), marker);
          return entry?.clientClosedAt ?? undefined;
        });
        expect(new Date(closedAt).toISOString()).to.equal(closedAt);
      });
    }

    for (const [directives, status, type, code] of [
      ['outcome=fail', 500, 'server_error', null],
      ['outcome=fail reason=invalid', 400, 'invalid_request_error', 'invalid_value'],
      ['outcome=fail reason=quota', 429, 'insufficient_quota', 'insufficient_quota'],
      ['outcome=fail reason=concurrency', 429, 'requests', 'rate_limit_exceeded'],
      ['outcome=fail reason=moderation', 400, 'image_generation_user_error', 'moderation_blocked'],
      ['outcome=moderated', 400, 'image_generation_user_error', 'moderation_blocked'],
      ['outcome=expire', 500, 'server_error', null],
      ['outcome=cancelled', 500, 'server_error', null],
    ] as const) {
      it(`ends ${directives} with ${status} ${code ?? type}`, async () => {
        const answer = await generate(directives);
        expect(answer.status).to.equal(status);
        expect(at(answer.body, 'error')).to.include({ type, code });
      });
    }

    it('shows internal details with text=leaky', async () => {
      for (const directives of ['outcome=fail', 'submit=500']) {
        const message = at((await generate(`text=leaky ${directives}`)).body, 'error.message');
        expectSensitive(message);
      }
    });
  });

  describe('the directives deliver and result', () => {
    it('delivers as many pictures as deliver says, whatever was ordered', async () => {
      expect((await generate('deliver=3')).body['data']).to.have.length(3);
      expect((await generate('deliver=0', { n: 2 })).body['data']).to.eql([]);
    });

    it('delivers no picture with result=404 and result=missing, and an unreachable one with result=private', async () => {
      expect((await generate('result=404')).body['data']).to.eql([{}]);
      expect((await generate('result=missing*1')).body['data']).to.eql([{}]);
      const link = at((await generate('result=private')).body, 'data.0.url');
      expect(link).to.match(/^http:\/\/10\.255\.255\.1\//);
    });

    it('links to a redirect into a private network with result=redirect_private', async () => {
      const link = String(at((await generate('result=redirect_private')).body, 'data.0.url'));
      const answer = await ask(link, { key: null });
      expect(answer.status).to.equal(302);
      expect(answer.headers.get('location')).to.match(/^http:\/\/169\.254\.169\.254\//);
    });

    it('delivers something else than a picture with result=html, javascript and truncated', async () => {
      expect(picture(await generate('result=html')).toString()).to.match(/^<!doctype html>/);
      expect(picture(await generate('result=javascript')).toString()).to.contain('alert(');
      const cut = picture(await generate('result=truncated'));
      expect(cut.toString('hex')).to.match(new RegExp(`^${PNG_SIGNATURE}`));
      expect(cut.includes('IEND')).to.equal(false);
    });

    it('trickles with result=slow and never ends with result=endless', async () => {
      const slow = { prompt: newPrompt('seconds=0 result=slow').prompt };
      expect(await readAtLeast(url(), 10, slow)).to.be.lessThan(200);
      const endless = { prompt: newPrompt('seconds=0 result=endless').prompt };
      expect(await readAtLeast(url(), 1_000_000, endless)).to.be.at.least(1_000_000);
    });
  });

  describe('the directive usage', () => {
    itDistortsUsage(1056, async (directives) => at((await generate(directives)).body, 'usage.output_tokens'));

    it('has no usage with usage=missing', async () => {
      expect((await generate('usage=missing')).body).not.to.have.property('usage');
    });
  });
});

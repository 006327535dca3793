// OpenAI’s Videos API: what is asked for, and what refusals mean.
import { expect } from 'chai';
import type { UpstreamJob } from '../../../providers/provider.ts';
import { failureOf, PNG, sendJson, verdictOf } from '../stand-in.ts';
import { DATA_URI, describeSora, soraJob } from './sora-support.ts';

describeSora((vendor) => {
  describe('submit', () => {
    async function send(ordered: UpstreamJob) {
      vendor.play = (res) => sendJson(res, 200, { id: 'video_1', object: 'video', status: 'queued' });
      await vendor.provider.submit(ordered);
      const [received] = vendor.received;
      if (!received) throw new Error('nothing was sent');
      return received;
    }

    it('is asked for in concrete values: the seconds as a text, ratio and resolution as a size', async () => {
      const { method, path, headers, body } = await send(soraJob());
      expect([method, path, headers.authorization]).to.deep.equal(['POST', '/v1/videos', 'Bearer sk-first']);
      expect(JSON.parse(String(body))).to.deep.equal({
        model: 'sora-2-pro',
        prompt: 'a cat that runs',
        seconds: '8',
        size: '1280x720',
      });
    });

    const sizes: [resolution: string, ratio: string, size: string][] = [
      ['720p', '9:16', '720x1280'],
      ['1024p', '16:9', '1792x1024'],
      ['1024p', '9:16', '1024x1792'],
      ['1080p', '16:9', '1920x1080'],
      ['1080p', '9:16', '1080x1920'],
    ];
    for (const [resolution, ratio, size] of sizes)
      it(`has ${resolution} in ${ratio} as ${size}`, async () => {
        const { body } = await send(soraJob({ resolution, ratio }));
        expect(JSON.parse(String(body))).to.include({ size });
      });

    it('is not sent at all in a size that does not exist', async () => {
      const failure = await failureOf(vendor.provider.submit(soraJob({ resolution: '480p' })));
      expect(verdictOf(failure)).to.equal('invalid, refused');
      expect(vendor.received).to.deep.equal([]);
    });

    it('has its first frame as a file of a form', async () => {
      const withFrame = soraJob({ imageRole: 'first_frame', inputImages: 1 }, { inputImages: [DATA_URI] });
      const { headers, body } = await send(withFrame);
      const form = await new Response(new Uint8Array(body), {
        headers: { 'content-type': headers['content-type'] ?? '' },
      }).formData();
      const file = form.get('input_reference');
      if (!(file instanceof File)) throw new Error('there is no file');
      expect([file.name, file.type]).to.deep.equal(['first-frame.png', 'image/png']);
      expect(Buffer.from(await file.arrayBuffer()).equals(PNG)).to.equal(true);
      form.delete('input_reference');
      expect(Object.fromEntries(form)).to.deep.equal({
        model: 'sora-2-pro',
        prompt: 'a cat that runs',
        seconds: '8',
        size: '1280x720',
      });
    });

    for (const json of [{ id: 'a' }, { task_id: 'a' }, { id: '', task_id: 'a' }])
      it(`has an id in ${JSON.stringify(json)}`, async () => {
        vendor.play = (res) => sendJson(res, 200, json, { 'x-request-id': 'req_1' });
        expect(await vendor.provider.submit(soraJob())).to.deep.equal({
          kind: 'accepted',
          handle: { id: 'a', credential: 'default' },
          upstreamRequestId: 'req_1',
        });
      });
  });

  describe('submit, refused', () => {
    const error = (code: string | null, message = 'No.', type = 'invalid_request_error') => ({
      error: { message, type, param: null, code },
    });
    const cases: [title: string, status: number, body: unknown, verdict: string][] = [
      ['for a bad field', 400, error('invalid_value'), 'invalid, refused'],
      ['by moderation', 400, error('moderation_blocked'), 'moderation, refused'],
      [
        'by words about the content',
        400,
        error(null, 'This violates our content policy.'),
        'moderation, refused',
      ],
      ['for a wrong key', 401, error('invalid_api_key'), 'auth, not_received'],
      ['for want of money', 429, error('insufficient_quota'), 'quota, not_received'],
      ['for a spending limit', 429, error('project_spend_limit_exceeded'), 'quota, not_received'],
      [
        'for want of money, as resellers say it',
        403,
        error('insufficient_user_quota'),
        'quota, not_received',
      ],
      ['for too many requests', 429, error('rate_limit_exceeded'), 'rate, not_received'],
      ['for a model that is gone', 404, error('model_not_found'), 'model_retired, refused'],
      ['for a model without a place', 503, error('model_not_found'), 'model_retired, refused'],
      ['with status 200', 200, error('insufficient_quota'), 'quota, not_received'],
      ['with status 200 and no clear word', 200, error('oops'), 'invalid_response, unknown'],
    ];
    for (const [title, status, body, verdict] of cases)
      it(`${title} is ${verdict}`, async () => {
        vendor.play = (res) => sendJson(res, status, body);
        expect(verdictOf(await failureOf(vendor.provider.submit(soraJob())))).to.equal(verdict);
      });
  });
});

// OpenAI's Videos API: what is asked for, how resellers' answers read, where the bytes are, and finding a
// lost job.
import { expect } from 'chai';
import { fetchResult } from '../../../providers/http/fetch-result.ts';
import type { UpstreamJob } from '../../../providers/provider.ts';
import { createSora } from '../../../providers/openai/sora.ts';
import { describeVendor } from '../describe-vendor.ts';
import { failureOf, PNG, sendJson, verdictOf, videoJob } from '../stand-in.ts';

const DATA_URI = `data:image/png;base64,${PNG.toString('base64')}`;
const SENT_AT = new Date('2026-11-20T12:00:00Z');
const SENT_AT_SECONDS = SENT_AT.getTime() / 1000;

describeVendor('videos of OpenAI’s Videos API', { create: createSora, path: '/v1' }, (vendor) => {
  beforeEach(() => {
    vendor.received.length = 0;
  });

  const job = (changes: Partial<UpstreamJob['order']> = {}, rest: Partial<UpstreamJob> = {}): UpstreamJob =>
    videoJob({
      upstreamModel: 'sora-2-pro',
      order: { ...videoJob().order, seconds: 8, resolution: '720p', audio: true, ...changes },
      ...rest,
    });

  describe('submit', () => {
    async function send(ordered: UpstreamJob) {
      vendor.play = (res) => sendJson(res, 200, { id: 'video_1', object: 'video', status: 'queued' });
      await vendor.provider.submit(ordered);
      const [received] = vendor.received;
      if (!received) throw new Error('nothing was sent');
      return received;
    }

    it('is asked for in concrete values: the seconds as a text, ratio and resolution as a size', async () => {
      const { method, path, headers, body } = await send(job());
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
        const { body } = await send(job({ resolution, ratio }));
        expect(JSON.parse(String(body))).to.include({ size });
      });

    it('is not sent at all in a size that does not exist', async () => {
      const failure = await failureOf(vendor.provider.submit(job({ resolution: '480p' })));
      expect(verdictOf(failure)).to.equal('invalid, refused');
      expect(vendor.received).to.deep.equal([]);
    });

    it('has its first frame as a file of a form', async () => {
      const withFrame = job({ imageRole: 'first_frame', inputImages: 1 }, { inputImages: [DATA_URI] });
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
        expect(await vendor.provider.submit(job())).to.deep.equal({
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
        expect(verdictOf(await failureOf(vendor.provider.submit(job())))).to.equal(verdict);
      });
  });

  describe('poll', () => {
    async function poll(json: unknown, id = 'video_1') {
      vendor.play = (res) => sendJson(res, 200, json);
      return vendor.provider.poll?.({ id, credential: 'second' });
    }

    it('is asked with the credential that handed it over, and its id is one path segment', async () => {
      await poll({ status: 'queued' }, 'a/b');
      const [{ path, headers } = { path: '', headers: undefined }] = vendor.received;
      expect([path, headers?.authorization]).to.deep.equal(['/v1/videos/a%2Fb', 'Bearer sk-second']);
    });

    const words: Record<string, string> = {
      queued: 'queued pending submitted not_start preparing created Queued NOT_START',
      running: 'in_progress processing running generating simmering IN_PROGRESS',
      succeeded: 'completed complete success succeeded finished SUCCESS',
      failed: 'failed failure fail error FAILURE',
      cancelled: 'cancelled canceled',
      expired: 'expired',
    };
    for (const [kind, list] of Object.entries(words))
      it(`reads ${list} as ${kind}`, async () => {
        for (const status of list.split(' ')) expect(await poll({ status }), status).to.include({ kind });
      });

    it('reads no status, no object and an error without a status as running', async () => {
      for (const json of [{}, [], null, { error: { message: 'try again', code: 'oops' } }])
        expect(await poll(json)).to.deep.equal({ kind: 'running', progress: null });
      expect(await poll({ status: 'in_progress', progress: 40 })).to.include({ progress: 40 });
      expect(await poll({ status: 'in_progress', progress: '40%' })).to.include({ progress: null });
    });

    const links: [title: string, fields: object, url: string][] = [
      ['nowhere', {}, '/v1/videos/video_1/content'],
      ['in metadata', { metadata: { url: 'https://cdn.example/a.mp4' } }, 'https://cdn.example/a.mp4'],
      ['as video_url', { video_url: 'https://cdn.example/b.mp4' }, 'https://cdn.example/b.mp4'],
      ['as url', { url: 'https://cdn.example/c.mp4' }, 'https://cdn.example/c.mp4'],
      ['as a path', { url: '/v1/files/d.mp4' }, '/v1/files/d.mp4'],
      ['nowhere, with empty texts', { url: '', video_url: '', metadata: null }, '/v1/videos/video_1/content'],
    ];
    for (const [title, fields, url] of links)
      it(`finds the link ${title}`, async () => {
        const results = [{ kind: 'guarded_url', url: new URL(url, vendor.url).href }];
        expect(await poll({ status: 'completed', ...fields })).to.deep.include({ results });
      });

    for (const [seconds, evidence] of [
      ['8', { seconds: 8 }],
      [8, { seconds: 8 }],
      ...['0', '-8', 'eight', '9000000000000', 0, -1, null, {}].map((nonsense) => [nonsense, {}] as const),
    ] as const)
      it(`reads ${JSON.stringify(seconds)} seconds as ${JSON.stringify(evidence)}`, async () => {
        expect(await poll({ status: 'completed', seconds })).to.deep.include({ evidence });
      });

    const failures: [error: unknown, errorClass: string, text: string | null][] = [
      [{ code: 'moderation_blocked', message: 'Blocked.' }, 'moderation', 'Blocked.'],
      [{ code: 'sentinel_block', message: 'Blocked.' }, 'moderation', 'Blocked.'],
      [
        { code: 'x', message: 'Blocked by our moderation system.' },
        'moderation',
        'Blocked by our moderation system.',
      ],
      [{ code: 'insufficient_quota', message: 'm' }, 'quota', 'm'],
      [{ code: 'rate_limit_exceeded', message: 'm' }, 'rate', 'm'],
      [{ code: 'invalid_reference', message: 'm' }, 'invalid', 'm'],
      [{ code: 'internal_error', message: 'm' }, 'transient', 'm'],
      ['a text alone', 'transient', 'a text alone'],
      [null, 'transient', null],
    ];
    for (const [error, errorClass, text] of failures)
      it(`reads failure by ${JSON.stringify(error)} as ${errorClass}`, async () => {
        expect(await poll({ status: 'failed', error })).to.deep.equal({ kind: 'failed', errorClass, text });
      });
  });

  it('is downloaded with the key of the credential that made it', async () => {
    vendor.play = (res) => void res.end('bytes');
    const handle = { id: 'video_1', credential: 'second' };
    const url = `${vendor.url}/v1/videos/video_1/content`;
    const { stream } = await fetchResult(
      vendor.provider,
      { kind: 'guarded_url', url },
      { handle, bytesMax: 100 },
    );
    stream.destroy();
    expect(vendor.received[0]?.headers.authorization).to.equal('Bearer sk-second');
    expect(vendor.provider.trustsOrigin(new URL('https://cdn.example/a.mp4'))).to.equal(false);
  });

  describe('lookUp after its answer was lost', () => {
    const entry = (changes: object = {}) => ({
      id: 'video_1',
      model: 'sora-2-pro',
      prompt: 'a cat that runs',
      seconds: '8',
      size: '1280x720',
      created_at: SENT_AT_SECONDS + 1,
      remixed_from_video_id: null,
      ...changes,
    });
    const lookUp = (data: object[], rest: object = {}, ordered = job()) => {
      vendor.play = (res) => sendJson(res, 200, { object: 'list', data, has_more: false, ...rest });
      return vendor.provider.lookUp?.(ordered, SENT_AT);
    };
    const unclear = { kind: 'unclear' };

    it('is the one entry with everything that was ordered', async () => {
      const other = entry({ id: 'video_2', prompt: 'a dog' });
      const found = { kind: 'found', handle: { id: 'video_1', credential: 'default' } };
      expect(await lookUp([other, entry()])).to.deep.equal(found);
      expect(await lookUp([entry({ seconds: 8 })])).to.deep.equal(found);
      expect(vendor.received[0]?.path).to.equal('/v1/videos?limit=100&order=desc');
    });

    const others: object[] = [
      { prompt: 'a cat that runs ' },
      { prompt: null },
      { model: 'sora-2' },
      { seconds: '4' },
      { size: '720x1280' },
      { created_at: SENT_AT_SECONDS - 60 },
      { created_at: SENT_AT_SECONDS + 600 },
      { created_at: undefined },
      { remixed_from_video_id: 'video_0' },
      { id: '' },
    ];
    for (const changes of others)
      it(`is not one with ${JSON.stringify(changes)}`, async () => {
        expect(await lookUp([entry(changes)])).to.deep.equal(unclear);
      });

    it('stays unclear with two of them, with none, and when the list goes on in that time', async () => {
      expect(await lookUp([entry(), entry({ id: 'video_2' })])).to.deep.equal(unclear);
      expect(await lookUp([])).to.deep.equal(unclear);
      expect(await lookUp([entry()], { has_more: true })).to.deep.equal(unclear);
      const older = entry({ id: 'video_0', created_at: SENT_AT_SECONDS - 900 });
      expect(await lookUp([entry(), older], { has_more: true })).to.include({ kind: 'found' });
    });

    it('stays unclear with an input image, which the list does not show', async () => {
      const withFrame = job({ imageRole: 'first_frame', inputImages: 1 }, { inputImages: [DATA_URI] });
      expect(await lookUp([entry()], {}, withFrame)).to.deep.equal(unclear);
      expect(vendor.received).to.deep.equal([]);
    });
  });
});

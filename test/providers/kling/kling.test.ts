// Kling: what is asked for in its two APIs, how answers read, and how a job is known again by our own id.
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { createKling } from '../../../providers/kling/kling.ts';
import type { Provider, UpstreamJob } from '../../../providers/provider.ts';
import { PNG_BASE64, PNG_DATA_URI } from '../../support/inputs.ts';
import {
  failureOf,
  sendJson,
  startStandIn,
  verdictOf,
  videoJob,
  type Play,
  type StandIn,
} from '../stand-in.ts';

const PICTURE = 'https://example.com/a.png';
const URL_OF_VIDEO = 'https://cdn.example/video.mp4';
const START_MS = Date.UTC(2026, 10, 21);

describe('Kling', () => {
  let standIn: StandIn;
  let provider: Provider;
  let nowMs = START_MS;
  let play: Play = (res) => sendJson(res, 200, {});

  before(async () => {
    standIn = await startStandIn((res, req) => play(res, req));
    provider = providerWith(['key-of-first', 'AK1:SK1']);
  });
  after(() => standIn.close());

  function providerWith(keys: string[]): Provider {
    const ids = ['first', 'second'];
    const credentials = keys.map((key, index) => ({ id: ids[index] ?? '', key }));
    return createKling({ baseUrl: standIn.url, credentials, upstreamTimeoutMs: 2_000 }, () => nowMs);
  }

  function answer(data: unknown, code = 0, status = 200): void {
    play = (res) => sendJson(res, status, { code, message: `message of ${code}`, request_id: 'r-1', data });
  }

  function jobOf(upstreamModel: string, changes: Partial<UpstreamJob['order']> = {}): UpstreamJob {
    const order = { ...videoJob().order, resolution: '720p', audio: false, ...changes };
    return videoJob({ upstreamModel, order, credential: 'first', reference: 'task_1:2' });
  }

  async function sent(job: UpstreamJob): Promise<{ path: string | undefined; body: unknown }> {
    answer({ task_id: 't-1', id: 't-1' });
    await provider.submit(job);
    const { path, body } = standIn.received.at(-1) ?? {};
    return { path, body: JSON.parse(String(body)) };
  }

  describe('submit to the flat API', () => {
    it('is asked for in concrete values, the resolution as a mode, the seconds as a text', async () => {
      expect(await sent(jobOf('kling-v2-6', { resolution: '1080p', audio: true }))).to.deep.equal({
        path: '/v1/videos/text2video',
        body: {
          model_name: 'kling-v2-6',
          prompt: 'a cat that runs',
          mode: 'pro',
          duration: '5',
          aspect_ratio: '16:9',
          sound: 'on',
          external_task_id: 'task_1-2',
        },
      });
    });

    it('says nothing about sound to a model without any', async () => {
      const { body } = await sent(jobOf('kling-v2-5-turbo', { audio: null }));
      expect(body).to.include({ mode: 'std' }).and.to.not.have.property('sound');
    });

    it('has images in a kind of its own, URLs as they are and data URIs as bare base64, without a ratio', async () => {
      const job = jobOf('kling-v2-6', { inputImages: 2, imageRole: 'first_and_last_frame' });
      const { path, body } = await sent({ ...job, inputImages: [PICTURE, PNG_DATA_URI] });
      expect(path).to.equal('/v1/videos/image2video');
      expect(body).to.include({ image: PICTURE, image_tail: PNG_BASE64 });
      expect(body).to.not.have.property('aspect_ratio');
    });

    it('remembers the kind, which is part of the path of every look', async () => {
      answer({ task_id: 't/1' });
      const job = { ...jobOf('kling-v2-6', { imageRole: 'first_frame' }), inputImages: [PICTURE] };
      const submission = await provider.submit(job);
      const handle = { id: 't/1', credential: 'first', dialect: 'legacy', kind: 'image2video' };
      expect(submission).to.deep.equal({ kind: 'accepted', handle, upstreamRequestId: 'r-1' });
      answer({ task_id: 't/1', task_status: 'processing' });
      await provider.poll?.(handle);
      expect(standIn.received.at(-1)?.path).to.equal('/v1/videos/image2video/t%2F1');
    });
  });

  describe('submit to the API since 3.0', () => {
    const settings = { resolution: '720p', duration: 5, audio: 'off', multi_shot: false };
    const options = { external_task_id: 'task_1-2' };

    it('has the model in its path and the choices in settings', async () => {
      expect(await sent(jobOf('kling-3.0'))).to.deep.equal({
        path: '/text-to-video/kling-3.0',
        body: { prompt: 'a cat that runs', settings: { ...settings, aspect_ratio: '16:9' }, options },
      });
    });

    it('has the first and the last frame among its contents, without a ratio', async () => {
      const job = jobOf('kling-3.0', { audio: true, inputImages: 2, imageRole: 'first_and_last_frame' });
      expect(await sent({ ...job, inputImages: [PICTURE, PNG_DATA_URI] })).to.deep.equal({
        path: '/image-to-video/kling-3.0',
        body: {
          contents: [
            { type: 'prompt', text: 'a cat that runs' },
            { type: 'first_frame', url: PICTURE },
            { type: 'last_frame', url: PNG_BASE64 },
          ],
          settings: { ...settings, audio: 'native' },
          options,
        },
      });
    });

    it('says nothing about sound to the turbo model, which always has it', async () => {
      const { path, body } = await sent(jobOf('kling-3.0-turbo', { audio: true }));
      expect(path).to.equal('/text-to-video/kling-3.0-turbo');
      expect(body).to.have.property('settings').that.does.not.have.property('audio');
    });

    it('has references and an input video in the omni model, with the prompt among the contents', async () => {
      const job = jobOf('kling-3.0-omni', { inputImages: 2, imageRole: 'references', inputVideos: 1 });
      const inputs = { inputImages: [PICTURE, PNG_DATA_URI], inputVideos: ['https://example.com/a.mp4'] };
      expect(await sent({ ...job, ...inputs })).to.deep.equal({
        path: '/omni-video/kling-3.0-omni',
        body: {
          contents: [
            { type: 'prompt', text: 'a cat that runs' },
            { type: 'refer_image', url: PICTURE },
            { type: 'refer_image', url: PNG_BASE64 },
            { type: 'feature_video', url: 'https://example.com/a.mp4' },
          ],
          settings: { ...settings, aspect_ratio: '16:9' },
          options,
        },
      });
    });

    for (const data of [{}, null, [], { id: '' }, { id: 7 }])
      it(`has no id in ${JSON.stringify(data)}`, async () => {
        answer(data);
        const failure = await failureOf(provider.submit(jobOf('kling-3.0')));
        expect(verdictOf(failure)).to.equal('invalid_response, unknown');
      });

    it('is no answer at all without the envelope', async () => {
      play = (res) => sendJson(res, 200, { id: 't-1' });
      const failure = await failureOf(provider.submit(jobOf('kling-3.0')));
      expect(verdictOf(failure)).to.equal('invalid_response, unknown');
    });
  });

  describe('proves who is calling', () => {
    const tokenOf = (): string =>
      String(standIn.received.at(-1)?.headers.authorization).slice('Bearer '.length);

    it('with a plain key as it is', async () => {
      await sent(jobOf('kling-3.0'));
      expect(tokenOf()).to.equal('key-of-first');
    });

    it('with a token that the secret key signs, kept for 20 of its 30 minutes', async () => {
      const job = { ...jobOf('kling-3.0'), credential: 'second' };
      await sent(job);
      const first = tokenOf();
      const [header = '', claims = '', signature] = first.split('.');
      const read = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
      expect(read(header)).to.deep.equal({ alg: 'HS256', typ: 'JWT' });
      const seconds = START_MS / 1000;
      expect(read(claims)).to.deep.equal({ iss: 'AK1', exp: seconds + 1800, nbf: seconds - 5 });
      expect(signature).to.equal(
        createHmac('sha256', 'SK1').update(`${header}.${claims}`).digest('base64url'),
      );
      nowMs = START_MS + 1_199_000;
      await sent(job);
      expect(tokenOf()).to.equal(first);
      nowMs = START_MS + 1_200_000;
      await sent(job);
      expect(tokenOf()).to.not.equal(first);
      nowMs = START_MS;
    });
  });

  describe('submit, refused', () => {
    const codes: [code: number, status: number, verdict: string][] = [
      [1000, 401, 'auth, not_received'],
      [1001, 401, 'auth, not_received'],
      [1002, 401, 'auth, not_received'],
      [1003, 401, 'auth, not_received'],
      [1004, 401, 'auth, not_received'],
      [1100, 429, 'quota, not_received'],
      [1101, 429, 'quota, not_received'],
      [1102, 429, 'quota, not_received'],
      [1103, 403, 'auth, not_received'],
      [1200, 400, 'invalid, refused'],
      [1201, 400, 'invalid, refused'],
      [1202, 404, 'invalid, refused'],
      [1203, 404, 'model_retired, refused'],
      [1300, 400, 'moderation, refused'],
      [1301, 400, 'moderation, refused'],
      [1302, 429, 'rate, not_received'],
      [1303, 429, 'concurrency, not_received'],
      [1304, 429, 'auth, not_received'],
      [5000, 500, 'transient, unknown'],
      [5001, 503, 'transient, not_received'],
      [5002, 504, 'transient, unknown'],
      [9999, 429, 'rate, not_received'],
    ];
    for (const [code, status, verdict] of codes)
      it(`with ${code} is ${verdict}, also when it comes with HTTP 200`, async () => {
        answer(undefined, code, status);
        const failure = await failureOf(provider.submit(jobOf('kling-3.0')));
        expect([verdictOf(failure), failure.text]).to.deep.equal([verdict, `message of ${code}`]);
        answer(undefined, code);
        const inside = await failureOf(provider.submit(jobOf('kling-3.0')));
        expect(verdictOf(inside)).to.equal(code === 9999 ? 'transient, unknown' : verdict);
      });
  });

  describe('poll', () => {
    const legacy = { id: 't-1', credential: 'first', dialect: 'legacy', kind: 'text2video' };
    const three = { id: 't-1', credential: 'first', dialect: '3' };
    const looks = {
      legacy: (task: object) => (answer({ task_id: 't-1', ...task }), provider.poll?.(legacy)),
      three: (task: object) => (answer([{ id: 't-1', ...task }]), provider.poll?.(three)),
    };
    const done = (duration: unknown, rest: object) => ({
      legacy: {
        task_status: 'succeed',
        task_result: { videos: [{ id: 'v', url: URL_OF_VIDEO, duration }] },
        ...rest,
      },
      three: { status: 'succeeded', outputs: [{ type: 'video', url: URL_OF_VIDEO, duration }], ...rest },
    });

    it('asks for the task by its id, and tolerates one object in the place of the list', async () => {
      await looks.three({ status: 'processing' });
      expect(standIn.received.at(-1)?.path).to.equal('/tasks?task_ids=t-1');
      answer({ id: 't-1', status: 'submitted' });
      expect(await provider.poll?.(three)).to.deep.equal({ kind: 'queued' });
    });

    it('reads submitted as queued, and processing and unknown words as running', async () => {
      expect(await looks.legacy({ task_status: 'submitted' })).to.deep.equal({ kind: 'queued' });
      for (const status of ['processing', 'simmering', undefined]) {
        const running = { kind: 'running', progress: null };
        expect(await looks.legacy({ task_status: status })).to.deep.equal(running);
        expect(await looks.three({ status })).to.deep.equal(running);
      }
    });

    it('reads success with what it cost: a unit is 28 credits', async () => {
      const results = [{ kind: 'url', url: URL_OF_VIDEO }];
      const flat = done('5.041', { final_unit_deduction: '2.5' }).legacy;
      expect(await looks.legacy(flat)).to.deep.equal({
        kind: 'succeeded',
        results,
        evidence: { seconds: 5, vendorCost: 70_000_000n },
      });
      const billing = [
        { charge_type: 'unit', amount: '3', package_type: 'video' },
        { charge_type: 'cash', amount: '0.07', currency: 'USD', list_price: '0.14' },
      ];
      expect(await looks.three(done('5.041', { billing }).three)).to.deep.equal({
        kind: 'succeeded',
        results,
        evidence: { seconds: 5, vendorCost: 98_000_000n },
      });
    });

    it('leaves out figures that make no sense, and money it cannot change into credits', async () => {
      for (const nonsense of ['-1', 'plenty', '9000000000000000000', null, [], Number.NaN]) {
        const flat = await looks.legacy(done(nonsense, { final_unit_deduction: nonsense }).legacy);
        expect(flat).to.deep.include({ kind: 'succeeded', evidence: {} });
        const billing = [{ charge_type: 'unit', amount: nonsense }];
        expect(await looks.three(done(nonsense, { billing }).three)).to.deep.include({ evidence: {} });
      }
      const yuan = [{ charge_type: 'cash', amount: '1', currency: 'CNY' }];
      expect(await looks.three(done('5', { billing: yuan }).three)).to.deep.include({
        evidence: { seconds: 5 },
      });
    });

    it('reads success without a video as an answer that makes no sense', async () => {
      const nothing = { kind: 'failed', errorClass: 'invalid_response', text: null };
      expect(await looks.legacy({ task_status: 'succeed' })).to.deep.equal(nothing);
      expect(
        await looks.three({ status: 'succeeded', outputs: [{ type: 'image', url: 'x' }] }),
      ).to.deep.equal(nothing);
    });

    const words: [text: string, errorClass: string][] = [
      ['Failure to pass the risk control system', 'moderation'],
      ['Account balance not enough', 'quota'],
      ['parallel task over resource pack limit', 'concurrency'],
      ['Image size is not supported', 'invalid'],
      ['Something else', 'transient'],
    ];
    for (const [text, errorClass] of words)
      it(`reads “${text}” as ${errorClass}`, async () => {
        const failed = { kind: 'failed', errorClass, text };
        expect(await looks.legacy({ task_status: 'failed', task_status_msg: text })).to.deep.equal(failed);
        expect(await looks.three({ status: 'failed', message: text })).to.deep.equal(failed);
      });

    it('is expired, refused where the vendor does not know the task', async () => {
      answer([]);
      expect(verdictOf(await failureOf(Promise.resolve(provider.poll?.(three))))).to.equal(
        'expired, refused',
      );
      answer([{ id: 'another', status: 'succeeded' }]);
      expect(verdictOf(await failureOf(Promise.resolve(provider.poll?.(three))))).to.equal(
        'expired, refused',
      );
      answer(undefined, 1203, 404);
      expect(verdictOf(await failureOf(Promise.resolve(provider.poll?.(legacy))))).to.equal(
        'expired, refused',
      );
    });
  });

  describe('lookUp by the external id', () => {
    const sentAt = new Date(START_MS);

    function duplicateThen(found: unknown, message = 'External task id task_1-2 already exists'): void {
      play = (res, { method }) => {
        const refusal = { code: 1201, message };
        if (method === 'POST') sendJson(res, 400, refusal);
        else sendJson(res, 200, { code: 0, data: found });
      };
    }

    it('is found where the vendor has it', async () => {
      answer([{ id: 't-9', external_id: 'task_1-2', status: 'submitted' }]);
      const found = { kind: 'found', handle: { id: 't-9', credential: 'first', dialect: '3' } };
      expect(await provider.lookUp?.(jobOf('kling-3.0'), sentAt)).to.deep.equal(found);
      expect(standIn.received.at(-1)?.path).to.equal('/tasks?external_task_ids=task_1-2');
      answer({ task_id: 't-9', task_info: { external_task_id: 'task_1-2' } });
      const legacy = { id: 't-9', credential: 'first', dialect: 'legacy', kind: 'text2video' };
      expect(await provider.lookUp?.(jobOf('kling-v2-6'), sentAt)).to.deep.equal({
        kind: 'found',
        handle: legacy,
      });
      expect(standIn.received.at(-1)?.path).to.equal('/v1/videos/text2video/task_1-2');
    });

    it('is unclear where somebody else’s comes, or several', async () => {
      const others = [
        [{ id: 't-9', external_id: 'task_2-1' }],
        [{ id: 't-8' }, { id: 't-9' }],
        [{}],
        [{ id: '', external_id: 'task_1-2' }],
      ];
      for (const tasks of others) {
        answer(tasks);
        expect(await provider.lookUp?.(jobOf('kling-3.0'), sentAt)).to.deep.equal({ kind: 'unclear' });
      }
    });

    it('is absent where the vendor has it not, among several accounts only after four seconds', async () => {
      answer([]);
      const job = jobOf('kling-3.0');
      nowMs = START_MS + 3_999;
      expect(await provider.lookUp?.(job, sentAt)).to.deep.equal({ kind: 'unclear' });
      expect(await providerWith(['only']).lookUp?.(job, sentAt)).to.deep.equal({ kind: 'absent' });
      nowMs = START_MS + 4_000;
      expect(await provider.lookUp?.(job, sentAt)).to.deep.equal({ kind: 'absent' });
      nowMs = START_MS;
      answer(undefined, 1203, 404);
      expect(await providerWith(['only']).lookUp?.(jobOf('kling-v2-6'), sentAt)).to.deep.equal({
        kind: 'absent',
      });
    });

    it('is the earlier job when a second one of the same id is refused', async () => {
      duplicateThen([{ id: 't-9', external_id: 'task_1-2', status: 'processing' }]);
      expect(await provider.submit(jobOf('kling-3.0'))).to.deep.include({
        kind: 'accepted',
        handle: { id: 't-9', credential: 'first', dialect: '3' },
      });
    });

    it('is unknown while its list does not show what it says it has', async () => {
      duplicateThen([]);
      const alone = providerWith(['only']);
      expect(verdictOf(await failureOf(alone.submit(jobOf('kling-3.0'))))).to.equal('transient, unknown');
      duplicateThen([{ id: 't-9', external_id: 'another' }]);
      expect(verdictOf(await failureOf(provider.submit(jobOf('kling-3.0'))))).to.equal('transient, unknown');
    });

    it('has nothing to do with other things that exist already', async () => {
      duplicateThen([], 'The element already exists');
      const alone = providerWith(['only']);
      expect(verdictOf(await failureOf(alone.submit(jobOf('kling-3.0'))))).to.equal('invalid, refused');
    });
  });
});

/** MiniMax's videos as the sandbox plays them, in both of its APIs. */

import { expect } from 'chai';
import { SENSITIVE_PARTS } from '../../../sandbox/error-text.ts';
import {
  ask,
  at,
  breaks,
  eventually,
  type Heard,
  type Json,
  newPrompt,
  readJobs,
  useSandbox,
} from '../support.ts';

const PICTURE = 'https://example.com/fox.png';

describe('sandbox: MiniMax videos', () => {
  const sandbox = useSandbox();
  const base = (): string => `${sandbox().url}/minimax`;
  const post = (path: string, body: Json, key = 'sk-test'): Promise<Heard> =>
    ask(`${base()}${path}`, { method: 'POST', key, body });
  const code = ({ body }: Heard): unknown => at(body, 'base_resp.status_code');

  const first = (directives: string, fields: Json = {}): Promise<Heard> =>
    post('/v1/video_generation', {
      model: 'MiniMax-Hailuo-02',
      prompt: newPrompt(directives).prompt,
      ...fields,
    });
  const firstLook = (id: unknown): Promise<Heard> =>
    ask(`${base()}/v1/query/video_generation?task_id=${String(id)}`);

  async function finishFirst(directives: string): Promise<Heard> {
    const heard = await first(`seconds=0 ${directives}`);
    expect(code(heard), heard.text).to.equal(0);
    return firstLook(heard.body['task_id']);
  }

  async function retrieve(heard: Heard): Promise<Heard> {
    return ask(`${base()}/v1/files/retrieve?file_id=${String(heard.body['file_id'])}`);
  }

  const text = (directives: string): Json => ({ type: 'text', text: newPrompt(directives).prompt });
  const second = (directives: string, fields: Json = {}, media: Json[] = []): Promise<Heard> =>
    post('/v2/video_generation', {
      model: 'MiniMax-H3',
      content: [text(directives), ...media],
      ratio: '16:9',
      ...fields,
    });
  const secondLook = (id: unknown): Promise<Heard> =>
    ask(`${base()}/v2/query/video_generation/${String(id)}`);

  async function startSecond(directives: string, fields: Json = {}, media: Json[] = []): Promise<unknown> {
    const heard = await second(directives, fields, media);
    expect(heard.status, heard.text).to.equal(200);
    return heard.body['task_id'];
  }

  async function finishSecond(directives: string, fields: Json = {}, media: Json[] = []): Promise<unknown> {
    const id = await startSecond(`seconds=0 ${directives}`, fields, media);
    return at((await secondLook(id)).body, 'task');
  }

  describe('the first API', () => {
    it('goes from Preparing to a file, whose link is a second question', async () => {
      const { body } = await first('seconds=0.6', { duration: 10 });
      const seen = new Set<unknown>();
      const done = await eventually(async () => {
        const heard = await firstLook(body['task_id']);
        seen.add(heard.body['status']);
        return heard.body['status'] === 'Success' ? heard : undefined;
      });
      expect([...seen]).to.eql(['Preparing', 'Queueing', 'Processing', 'Success']);
      const url = String(at((await retrieve(done)).body, 'file.download_url'));
      expect(Number(new URL(url).searchParams.get('Expires')) * 1000).to.be.greaterThan(Date.now());
      expect((await fetch(url)).headers.get('content-type')).to.equal('video/mp4');
      expect((await fetch(url.replace(/Expires=\d+/, 'Expires=1'))).status).to.equal(404);
    });

    it('gives no link before the video is there, and none for other ids', async () => {
      const { body } = await first('seconds=600');
      const early = await ask(`${base()}/v1/files/retrieve?file_id=2${String(body['task_id'])}`);
      expect(code(early)).to.equal(2013);
      expect(code(await ask(`${base()}/v1/files/retrieve?file_id=7`))).to.equal(2013);
      expect(code(await firstLook('7'))).to.equal(2013);
    });

    const fast = 'MiniMax-Hailuo-2.3-Fast';
    for (const [fields, field] of [
      [{ duration: 5 }, 'duration'],
      [{ duration: '6' }, 'duration'],
      [{ duration: 10, resolution: '1080P' }, 'duration'],
      [{ resolution: '768p' }, 'resolution'],
      [{ resolution: '512P', model: 'MiniMax-Hailuo-2.3' }, 'resolution'],
      [{ resolution: '512P' }, 'first_frame_image'],
      [{ model: fast }, 'first_frame_image'],
      [{ model: fast, first_frame_image: PICTURE, last_frame_image: PICTURE }, 'last_frame_image'],
      [{ last_frame_image: PICTURE }, 'first_frame_image'],
      [{ first_frame_image: 'fox.png' }, 'first_frame_image'],
      [{ model: 'MiniMax-H3' }, 'model'],
      [{ prompt: 'x'.repeat(2001) }, 'prompt'],
      [{ ratio: '16:9' }, 'ratio'],
    ] as const) {
      it(`refuses ${JSON.stringify(fields).slice(0, 60)} inside HTTP 200 and names the field`, async () => {
        const heard = await first('', fields);
        expect([heard.status, code(heard)], heard.text).to.eql([200, 2013]);
        expect(String(at(heard.body, 'base_resp.status_msg'))).to.match(new RegExp(`^${field}:`));
      });
    }

    for (const [directive, status, told] of [
      ['400', 200, 2013],
      ['401', 200, 1004],
      ['402', 200, 1008],
      ['403', 200, 2049],
      ['429', 200, 1002],
      ['500', 200, 1000],
      ['503', 503, 1013],
    ] as const) {
      it(`answers submit=${directive} with ${status} and ${told}, without a job`, async () => {
        const { prompt, marker } = newPrompt(`submit=${directive}`);
        const heard = await post('/v1/video_generation', { model: 'MiniMax-Hailuo-02', prompt });
        expect([heard.status, code(heard)]).to.eql([status, told]);
        expect(await readJobs(sandbox(), marker)).to.eql([]);
      });
    }

    it('wants a key', async () => {
      expect(code(await post('/v1/video_generation', {}, ''))).to.equal(1004);
    });

    it('fails with words, and with a code for moderation', async () => {
      for (const [directives, told, words] of [
        ['outcome=fail', 0, 'failed'],
        ['outcome=fail reason=invalid', 0, 'unsupported'],
        ['outcome=moderated', 1027, 'new_sensitive'],
        ['outcome=expire', 0, 'expired'],
      ] as const) {
        const heard = await finishFirst(directives);
        expect([heard.body['status'], code(heard)], directives).to.eql(['Fail', told]);
        expect(at(heard.body, 'base_resp.status_msg')).to.contain(words);
      }
      const leaky = at((await finishFirst('outcome=fail text=leaky')).body, 'base_resp.status_msg');
      for (const part of Object.values(SENSITIVE_PARTS)) expect(leaky).to.contain(part);
    });

    it('has no file with deliver=0 and no link with result=missing', async () => {
      expect((await finishFirst('deliver=0')).body['file_id']).to.equal('');
      const missing = await retrieve(await finishFirst('result=missing'));
      expect(at(missing.body, 'file')).not.to.have.property('download_url');
      expect((await finishFirst('poll=weird')).body['status']).to.equal('Simmering');
    });
  });

  describe('the second API', () => {
    const reference = { type: 'image_url', image_url: { url: PICTURE }, role: 'reference_image' };
    const frame = { ...reference, role: 'first_frame' };
    const video = {
      type: 'video_url',
      video_url: { url: 'https://example.com/a.mp4' },
      role: 'reference_video',
    };

    it('goes from queued over running to succeeded, with what it used', async () => {
      const id = await startSecond('seconds=0.4', { duration: 8, resolution: '2K' }, [reference, video]);
      const seen = new Set<unknown>();
      const done = await eventually(async () => {
        const { body } = await secondLook(id);
        seen.add(at(body, 'task.status'));
        return at(body, 'task.status') === 'succeeded' ? at(body, 'task') : undefined;
      });
      expect([...seen]).to.eql(['queued', 'running', 'succeeded']);
      expect(done).to.deep.include({
        resolution: '2K',
        duration: 8,
        usage: { total_seconds: 13, input_seconds: 5, output_seconds: 8, input_image_count: 1 },
      });
      expect((await fetch(String(at(done, 'content.url')))).status).to.equal(200);
    });

    for (const [fields, media, field] of [
      [{ duration: 3 }, [], 'duration'],
      [{ duration: 4, model: 'MiniMax-H3-Max' }, [], 'duration'],
      [{ duration: '5' }, [], 'duration'],
      [{ resolution: '768p' }, [], 'resolution'],
      [{ resolution: '2K', model: 'MiniMax-H3-Max' }, [], 'resolution'],
      [{ ratio: 'adaptive' }, [], 'ratio'],
      [{ ratio: '2:1' }, [], 'ratio'],
      [{ model: 'MiniMax-H4' }, [], 'model'],
      [{ seed: 7 }, [], 'seed'],
      [{ content: [] }, [], 'content'],
      [{}, [frame, frame], 'content'],
      [{}, [frame, video], 'content'],
      [{}, Array.from({ length: 10 }, () => reference), 'content'],
      [{}, [{ ...frame, role: 'middle' }], 'content\\[1\\].role'],
      [{}, [{ ...frame, image_url: { url: 'fox.png' } }], 'content\\[1\\].image_url.url'],
      [{}, [{ type: 'smell' }], 'content\\[1\\].type'],
    ] as const) {
      it(`refuses ${JSON.stringify([fields, media]).slice(0, 70)} and names the field`, async () => {
        const heard = await second('', fields, [...media]);
        expect([heard.status, at(heard.body, 'error.type')], heard.text).to.eql([400, 'bad_request_error']);
        expect(String(at(heard.body, 'error.message'))).to.match(new RegExp(`^${field}: .*\\(2013\\)$`));
      });
    }

    it('takes a frame, of which the ratio may be adaptive', async () => {
      expect(await finishSecond('', { ratio: 'adaptive' }, [frame])).to.include({ status: 'succeeded' });
    });

    for (const status of [400, 401, 402, 403, 429, 500, 503]) {
      it(`answers submit=${status} in its own shape, without a job`, async () => {
        const { prompt, marker } = newPrompt(`submit=${status}`);
        const content = [{ type: 'text', text: prompt }];
        const heard = await post('/v2/video_generation', { model: 'MiniMax-H3', content });
        expect(heard.status).to.equal(status);
        expect(heard.body).to.include({ type: 'error' });
        expect(at(heard.body, 'error')).to.include({ http_code: String(status) });
        expect(await readJobs(sandbox(), marker)).to.eql([]);
      });
    }

    it('cancels what waits, refuses what runs, and erases what has ended', async () => {
      const erase = (id: unknown): Promise<Heard> =>
        ask(`${base()}/v2/video_generation/${String(id)}`, { method: 'DELETE' });
      const waiting = await startSecond('seconds=600');
      expect((await erase(waiting)).body).to.include({ action: 'cancel' });
      expect(at((await secondLook(waiting)).body, 'task.status')).to.equal('cancelled');
      expect((await erase(waiting)).status).to.equal(400);
      expect((await erase(await startSecond('seconds=600 cancel=too_late'))).status).to.equal(400);
      const ended = await startSecond('seconds=0');
      expect((await erase(ended)).body).to.include({ action: 'delete' });
      expect((await secondLook(ended)).status).to.equal(404);
      expect((await erase('7')).status).to.equal(404);
    });

    it('ends in its own words, and shows its insides with text=leaky', async () => {
      expect(await finishSecond('outcome=expire')).to.include({ status: 'expired' });
      expect(await finishSecond('outcome=cancelled')).to.include({ status: 'cancelled' });
      expect(at(await finishSecond('outcome=moderated'), 'error.code')).to.equal('1027');
      expect(at(await finishSecond('outcome=fail reason=quota'), 'error.code')).to.equal('1008');
      const leaky = at(await finishSecond('outcome=fail text=leaky'), 'error.message');
      for (const part of Object.values(SENSITIVE_PARTS)) expect(leaky).to.contain(part);
    });

    it('tells any consumption, and breaks as it is told', async () => {
      expect(await finishSecond('usage=missing')).not.to.have.property('usage');
      expect(at(await finishSecond('usage=triple'), 'usage.output_seconds')).to.equal(15);
      expect(at(await finishSecond('usage=text'), 'usage.output_seconds')).to.equal('plenty');
      expect((await second('submit=no_id')).body).to.eql({});
      expect(await breaks(second('submit=accept_then_reset'))).to.equal(true);
    });
  });
});

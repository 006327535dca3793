// MiniMax's v2 video API (H3) as the sandbox plays it.

import { expect } from 'chai';
import {
  ask,
  at,
  expectSensitive,
  followStatus,
  type HttpAnswer,
  type Json,
  newPrompt,
  useSandbox,
} from '../support.ts';
import {
  itBreaksConnections,
  itDistortsUsage,
  itRefusesWithoutJob,
  type Submissions,
} from '../vendor-rules.ts';

const PICTURE = 'https://example.com/fox.png';

describe('sandbox: MiniMax videos, v2', () => {
  const sandbox = useSandbox();

  const submitBody = (body: Json): Promise<HttpAnswer> =>
    ask(`${sandbox().url}/minimax/v2/video_generation`, { method: 'POST', body });

  const text = (directives: string): Json => ({ type: 'text', text: newPrompt(directives).prompt });

  const submit = (directives: string, fields: Json = {}, media: Json[] = []): Promise<HttpAnswer> =>
    submitBody({
      model: 'MiniMax-H3',
      content: [text(directives), ...media],
      ratio: '16:9',
      ...fields,
    });

  const poll = (id: unknown): Promise<HttpAnswer> =>
    ask(`${sandbox().url}/minimax/v2/query/video_generation/${String(id)}`);

  async function start(directives: string, fields: Json = {}, media: Json[] = []): Promise<unknown> {
    const answer = await submit(directives, fields, media);
    expect(answer.status, answer.text).to.equal(200);
    return answer.body['task_id'];
  }

  async function finish(directives: string, fields: Json = {}, media: Json[] = []): Promise<unknown> {
    const id = await start(`seconds=0 ${directives}`, fields, media);
    return at((await poll(id)).body, 'task');
  }

  const reference = { type: 'image_url', image_url: { url: PICTURE }, role: 'reference_image' };

  const frame = { ...reference, role: 'first_frame' };

  const video = {
    type: 'video_url',
    video_url: { url: 'https://example.com/a.mp4' },
    role: 'reference_video',
  };

  describe('POST /v2/video_generation', () => {
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
        const answer = await submit('', fields, [...media]);
        expect([answer.status, at(answer.body, 'error.type')], answer.text).to.eql([
          400,
          'bad_request_error',
        ]);
        expect(String(at(answer.body, 'error.message'))).to.match(new RegExp(`^${field}: .*\\(2013\\)$`));
      });
    }

    it('accepts the ratio adaptive with a first frame', async () => {
      expect(await finish('', { ratio: 'adaptive' }, [frame])).to.include({ status: 'succeeded' });
    });

    const submissions: Submissions = {
      sandbox,
      submit: (prompt) =>
        submitBody({ model: 'MiniMax-H3', content: [{ type: 'text', text: prompt }], ratio: '16:9' }),
    };

    itRefusesWithoutJob(
      submissions,
      [400, 401, 402, 403, 429, 500, 503].map((status) => [`${status}`, status, 'error', `${status}`]),
      ({ status, body }) => [status, body['type'], at(body, 'error.http_code')],
    );

    itBreaksConnections(submissions);

    it('answers without a task id with submit=no_id', async () => {
      expect((await submit('submit=no_id')).body).to.eql({});
    });
  });

  describe('GET /v2/query/video_generation/{id}', () => {
    it('goes from queued over running to succeeded, with what it used', async () => {
      const id = await start('seconds=0.4', { duration: 8, resolution: '2K' }, [reference, video]);
      const { statuses, done } = await followStatus(() => poll(id), 'task.status', 'succeeded');
      expect(statuses).to.eql(['queued', 'running', 'succeeded']);
      expect(at(done.body, 'task')).to.deep.include({
        resolution: '2K',
        duration: 8,
        usage: { total_seconds: 13, input_seconds: 5, output_seconds: 8, input_image_count: 1 },
      });
      expect((await fetch(String(at(done.body, 'task.content.url')))).status).to.equal(200);
    });

    it('has statuses of its own, and shows internal details with text=leaky', async () => {
      expect(await finish('outcome=expire')).to.include({ status: 'expired' });
      expect(await finish('outcome=cancelled')).to.include({ status: 'cancelled' });
      expect(at(await finish('outcome=moderated'), 'error.code')).to.equal('1027');
      expect(at(await finish('outcome=fail reason=quota'), 'error.code')).to.equal('1008');
      const leaky = at(await finish('outcome=fail text=leaky'), 'error.message');
      expectSensitive(leaky);
    });

    itDistortsUsage(5, async (directives) => at(await finish(directives), 'usage.output_seconds'));

    it('has no usage with usage=missing', async () => {
      expect(await finish('usage=missing')).not.to.have.property('usage');
    });
  });

  describe('DELETE /v2/video_generation/{id}', () => {
    it('cancels a queued task, refuses a running one, and erases an ended one', async () => {
      const erase = (id: unknown): Promise<HttpAnswer> =>
        ask(`${sandbox().url}/minimax/v2/video_generation/${String(id)}`, { method: 'DELETE' });
      const waiting = await start('seconds=600');
      expect((await erase(waiting)).body).to.include({ action: 'cancel' });
      expect(at((await poll(waiting)).body, 'task.status')).to.equal('cancelled');
      expect((await erase(waiting)).status).to.equal(400);
      expect((await erase(await start('seconds=600 cancel=too_late'))).status).to.equal(400);
      const ended = await start('seconds=0');
      expect((await erase(ended)).body).to.include({ action: 'delete' });
      expect((await poll(ended)).status).to.equal(404);
      expect((await erase('7')).status).to.equal(404);
    });
  });
});

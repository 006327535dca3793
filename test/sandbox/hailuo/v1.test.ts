// MiniMax's v1 video API (Hailuo) as the sandbox plays it.

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
import { itRefusesWithoutJob } from '../vendor-rules.ts';

const PICTURE = 'https://example.com/fox.png';

describe('sandbox: MiniMax videos, v1', () => {
  const sandbox = useSandbox();

  const submitBody = (body: Json, key = 'sk-test'): Promise<HttpAnswer> =>
    ask(`${sandbox().url}/minimax/v1/video_generation`, { method: 'POST', key, body });

  const code = ({ body }: HttpAnswer): unknown => at(body, 'base_resp.status_code');

  const submit = (directives: string, fields: Json = {}): Promise<HttpAnswer> =>
    submitBody({ model: 'MiniMax-Hailuo-02', prompt: newPrompt(directives).prompt, ...fields });

  const poll = (id: unknown): Promise<HttpAnswer> =>
    ask(`${sandbox().url}/minimax/v1/query/video_generation?task_id=${String(id)}`);

  async function finish(directives: string): Promise<HttpAnswer> {
    const answer = await submit(`seconds=0 ${directives}`);
    expect(code(answer), answer.text).to.equal(0);
    return poll(answer.body['task_id']);
  }

  async function retrieve(answer: HttpAnswer): Promise<HttpAnswer> {
    return ask(`${sandbox().url}/minimax/v1/files/retrieve?file_id=${String(answer.body['file_id'])}`);
  }

  describe('POST /v1/video_generation', () => {
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
        const answer = await submit('', fields);
        expect([answer.status, code(answer)], answer.text).to.eql([200, 2013]);
        expect(String(at(answer.body, 'base_resp.status_msg'))).to.match(new RegExp(`^${field}:`));
      });
    }

    itRefusesWithoutJob(
      { sandbox, submit: (prompt) => submitBody({ model: 'MiniMax-Hailuo-02', prompt }) },
      [
        ['400', 200, 2013],
        ['401', 200, 1004],
        ['402', 200, 1008],
        ['403', 200, 2049],
        ['429', 200, 1002],
        ['500', 200, 1000],
        ['503', 503, 1013],
      ],
      (answer) => [answer.status, code(answer)],
    );

    it('wants a key', async () => {
      expect(code(await submitBody({}, ''))).to.equal(1004);
    });
  });

  describe('GET /v1/query/video_generation', () => {
    it('goes from Preparing to a file, whose link takes a further request', async () => {
      const { body } = await submit('seconds=0.6', { duration: 10 });
      const { statuses, done } = await followStatus(() => poll(body['task_id']), 'status', 'Success');
      expect(statuses).to.eql(['Preparing', 'Queueing', 'Processing', 'Success']);
      const url = String(at((await retrieve(done)).body, 'file.download_url'));
      expect(Number(new URL(url).searchParams.get('Expires')) * 1000).to.be.greaterThan(Date.now());
      expect((await fetch(url)).headers.get('content-type')).to.equal('video/mp4');
      expect((await fetch(url.replace(/Expires=\d+/, 'Expires=1'))).status).to.equal(404);
    });

    it('fails with a text, and with a code for moderation', async () => {
      for (const [directives, expectedCode, words] of [
        ['outcome=fail', 0, 'failed'],
        ['outcome=fail reason=invalid', 0, 'unsupported'],
        ['outcome=moderated', 1027, 'new_sensitive'],
        ['outcome=expire', 0, 'expired'],
      ] as const) {
        const answer = await finish(directives);
        expect([answer.body['status'], code(answer)], directives).to.eql(['Fail', expectedCode]);
        expect(at(answer.body, 'base_resp.status_msg')).to.contain(words);
      }
      expectSensitive(at((await finish('outcome=fail text=leaky')).body, 'base_resp.status_msg'));
    });
  });

  describe('GET /v1/files/retrieve', () => {
    it('gives no link before the video is there, and none for other ids', async () => {
      const { body } = await submit('seconds=600');
      const early = await ask(
        `${sandbox().url}/minimax/v1/files/retrieve?file_id=2${String(body['task_id'])}`,
      );
      expect(code(early)).to.equal(2013);
      expect(code(await ask(`${sandbox().url}/minimax/v1/files/retrieve?file_id=7`))).to.equal(2013);
      expect(code(await poll('7'))).to.equal(2013);
    });

    it('has no file with deliver=0 and no link with result=missing', async () => {
      expect((await finish('deliver=0')).body['file_id']).to.equal('');
      const missing = await retrieve(await finish('result=missing'));
      expect(at(missing.body, 'file')).not.to.have.property('download_url');
      expect((await finish('poll=weird')).body['status']).to.equal('Simmering');
    });
  });
});

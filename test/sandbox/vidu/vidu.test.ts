// Vidu as the sandbox plays it.

import { expect } from 'chai';
import {
  ask,
  at,
  expectSensitive,
  followStatus,
  type HttpAnswer,
  type Json,
  newPrompt,
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

const IMAGE = 'https://example.com/fox.png';

describe('sandbox: Vidu', () => {
  const sandbox = useSandbox();

  async function send(
    path: string,
    options: { body?: Json; authorization?: string | null } = {},
  ): Promise<HttpAnswer> {
    const { body, authorization = 'Token vda_test' } = options;
    return ask(`${sandbox().url}/vidu${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      key: null,
      headers: authorization === null ? {} : { authorization },
      ...(body === undefined ? {} : { body }),
    });
  }

  const submit = (directives: string, fields: Json = {}, endpoint = 'text2video'): Promise<HttpAnswer> =>
    send(`/ent/v2/${endpoint}`, {
      body: { model: 'viduq3-pro', prompt: newPrompt(directives).prompt, ...fields },
    });

  const poll = (id: string): Promise<HttpAnswer> => send(`/ent/v2/tasks/${id}/creations`);

  const cancel = (id: string): Promise<HttpAnswer> => send(`/ent/v2/tasks/${id}/cancel`, { body: { id } });

  async function start(directives: string, fields: Json = {}, endpoint?: string): Promise<string> {
    const answer = await submit(directives, fields, endpoint);
    expect(answer.status, answer.text).to.equal(200);
    return String(answer.body['task_id']);
  }

  const finish = async (directives: string): Promise<HttpAnswer> =>
    poll(await start(`seconds=0 ${directives}`));

  describe('POST /ent/v2/{endpoint}', () => {
    it('answers with the price, by model, resolution, endpoint, seconds and time of day', async () => {
      const price = async (fields: Json, endpoint?: string): Promise<unknown> =>
        (await submit('', fields, endpoint)).body['credits'];
      expect(await price({})).to.equal(100);
      expect(await price({ resolution: '1080p', duration: 16 })).to.equal(384);
      expect(await price({ off_peak: true })).to.equal(50);
      const turbo = { model: 'viduq3-turbo', resolution: '540p', duration: 10 };
      expect(await price(turbo)).to.equal(70);
      expect(await price({ ...turbo, images: [IMAGE] }, 'reference2video')).to.equal(40);
    });

    for (const authorization of [null, 'Bearer vda_test', 'Token ', 'Token invalid'])
      it(`refuses the authorization ${authorization}`, async () => {
        const body = { model: 'viduq3-pro', prompt: 'x' };
        const answer = await send('/ent/v2/text2video', { authorization, body });
        expect(answer.status).to.equal(401);
        expect(answer.body).to.include({ code: 'Unauthorized', reason: 'Unauthorized' });
        expect(at(answer.body, 'metadata.trace_id')).to.be.a('string');
      });

    const refusals: [endpoint: string, fields: Json, reason: string, field: string][] = [
      ['text2video', { model: undefined }, 'FieldLacking', 'model'],
      ['text2video', { model: 'viduq3' }, 'ModelUnavailable', 'model'],
      ['text2video', { prompt: undefined }, 'FieldLacking', 'prompt'],
      ['text2video', { prompt: 'x'.repeat(5001) }, 'FieldInvalid', 'prompt'],
      ['text2video', { duration: 17 }, 'FieldInvalid', 'duration'],
      ['text2video', { duration: '5' }, 'FieldInvalid', 'duration'],
      ['text2video', { resolution: '720P' }, 'FieldInvalid', 'resolution'],
      ['text2video', { aspect_ratio: '21:9' }, 'FieldInvalid', 'aspect_ratio'],
      ['text2video', { audio: 'yes' }, 'FieldInvalid', 'audio'],
      ['text2video', { negative_prompt: 'dogs' }, 'FieldUnwanted', 'negative_prompt'],
      ['text2video', { images: [IMAGE] }, 'FieldUnwanted', 'images'],
      ['img2video', { images: [] }, 'FieldInvalid', 'images'],
      ['img2video', { images: [IMAGE, IMAGE] }, 'FieldInvalid', 'images'],
      ['img2video', { images: ['fox.png'] }, 'ImageFormatInvalid', 'images'],
      ['img2video', { images: [IMAGE], aspect_ratio: '16:9' }, 'FieldUnwanted', 'aspect_ratio'],
      [
        'img2video',
        { images: [IMAGE], model: 'viduq3-pro-fast', resolution: '540p' },
        'FieldInvalid',
        'resolution',
      ],
      ['start-end2video', { images: [IMAGE] }, 'FieldInvalid', 'images'],
      ['reference2video', { images: [IMAGE] }, 'ModelUnavailable', 'model'],
      ['reference2video', { model: 'viduq3', images: Array(8).fill(IMAGE) }, 'FieldInvalid', 'images'],
    ];

    for (const [endpoint, fields, reason, field] of refusals)
      it(`refuses ${JSON.stringify(fields).slice(0, 60)} at ${endpoint} and names the field`, async () => {
        const answer = await submit('', fields, endpoint);
        expect(answer.status).to.equal(400);
        expect(answer.body).to.include({ code: 400, reason });
        expect(answer.body['message']).to.match(new RegExp(`^${field}: `));
      });

    it('refuses an unknown directive, and shows internal details with text=leaky', async () => {
      expect((await submit('colour=red')).body['message']).to.contain('colour');
      const refusal = (await submit('submit=500 text=leaky')).body['message'];
      const failure = (await finish('outcome=fail text=leaky')).body['err_code'];
      expectSensitive(refusal);
      expectSensitive(failure);
    });

    const submissions: Submissions = {
      sandbox,
      submit: (prompt) => send('/ent/v2/text2video', { body: { model: 'viduq3-pro', prompt } }),
    };

    itRefusesWithoutJob(
      submissions,
      [
        ['400', 400, 'BadRequest'],
        ['401', 401, 'Unauthorized'],
        ['402', 402, 'CreditInsufficient'],
        ['403', 403, 'PermissionDenied'],
        ['429', 429, 'TooManyRequests'],
        ['500', 500, 'InternalServiceFailure'],
        ['503', 503, 'ServiceUnavailable'],
      ],
      ({ status, body }) => [status, body['reason']],
    );

    itBreaksConnections(submissions);
  });

  describe('GET /ent/v2/tasks/{id}/creations', () => {
    it('goes from created over queueing and processing to a video that can be fetched', async () => {
      const id = await start('seconds=0.6', { duration: 4, aspect_ratio: '9:16' });
      const { statuses, done } = await followStatus(() => poll(id), 'state', 'success');
      expect(statuses).to.eql(['created', 'queueing', 'processing', 'success']);
      expect(done.body).to.include({ id, err_code: '', credits: 80 });
      const video = await fetch(String(at(done.body, 'creations.0.url')));
      expect(video.headers.get('content-type')).to.equal('video/mp4');
      expect(at(done.body, 'creations.0.cover_url')).to.be.a('string');
    });

    for (const [directives, word] of [
      ['outcome=fail', 'InternalServiceFailure'],
      ['outcome=fail reason=invalid', 'ImageDownloadFailure'],
      ['outcome=fail reason=quota', 'CreditInsufficient'],
      ['outcome=fail reason=concurrency', 'QuotaExceeded'],
      ['outcome=fail reason=moderation', 'TaskPromptPolicyViolation'],
      ['outcome=moderated', 'CreationPolicyViolation'],
      ['outcome=cancelled', 'UserCancelled'],
    ] as const)
      it(`fails as ${word} with ${directives}`, async () => {
        const { status, body } = await finish(directives);
        expect(status).to.equal(200);
        expect(body).to.deep.include({ state: 'failed', err_code: word, creations: [] });
      });

    it('answers 404 for an expired job as for an unknown one', async () => {
      for (const answer of [await finish('outcome=expire'), await poll('123')])
        expect([answer.status, answer.body['reason']]).to.eql([404, 'TaskNotFound']);
    });

    it('has an unknown status with poll=weird and takes a success back with poll=regress', async () => {
      expect((await finish('poll=weird')).body['state']).to.equal('simmering');
      const id = await start('seconds=0 poll=regress');
      expect((await poll(id)).body['state']).to.equal('success');
      expect((await poll(id)).body['state']).to.equal('failed');
    });

    itDistortsUsage(100, async (directives) => (await finish(directives)).body['credits']);
  });

  describe('POST /ent/v2/tasks/{id}/cancel', () => {
    it('cancels a queued job and then reports who cancelled it', async () => {
      const id = await start('seconds=600');
      expect(await cancel(id)).to.deep.include({ status: 200, body: {} });
      expect((await poll(id)).body).to.include({ state: 'failed', err_code: 'UserCancelled' });
    });

    it('is too late afterwards, or with cancel=too_late, and names the state', async () => {
      for (const [directives, state] of [
        ['seconds=0', 'success'],
        ['seconds=600 cancel=too_late', 'queueing'],
      ] as const) {
        const answer = await cancel(await start(directives));
        expect(answer.status).to.equal(400);
        expect(answer.body).to.include({ reason: 'BadRequest' });
        expect(answer.body['message']).to.contain(state);
      }
    });

    it('is in the journal', async () => {
      const { prompt, marker } = newPrompt('seconds=600');
      const created = await send('/ent/v2/text2video', { body: { model: 'viduq3-pro', prompt } });
      await cancel(String(created.body['task_id']));
      const operations = (await readJournal(sandbox(), marker)).map(({ operation }) => operation);
      expect(operations).to.eql(['submit', 'cancel']);
      expect((await readJobs(sandbox(), marker))[0]).to.include({ vendor: 'vidu', state: 'cancelled' });
    });
  });
});

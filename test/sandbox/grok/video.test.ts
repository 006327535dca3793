// Grok Imagine video as the sandbox plays it.

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
  readJobs,
  readJournal,
  useSandbox,
} from '../support.ts';
import { itBreaksConnections, itDistortsUsage, itRefusesWithoutJob } from '../vendor-rules.ts';

describe('sandbox: Grok video', () => {
  const sandbox = useSandbox();

  const url = (): string => `${sandbox().url}/xai/v1/videos/generations`;

  const submitPrompt = (prompt: string, fields: Json = {}): Promise<HttpAnswer> =>
    ask(url(), { method: 'POST', body: { model: 'grok-imagine-video', prompt, ...fields } });

  const submit = (directives: string, fields: Json = {}): Promise<HttpAnswer> =>
    submitPrompt(newPrompt(directives).prompt, fields);

  const poll = (id: string, key = 'sk-test'): Promise<HttpAnswer> =>
    ask(`${sandbox().url}/xai/v1/videos/${id}`, { key });

  async function start(directives: string, fields: Json = {}): Promise<string> {
    const answer = await submit(directives, fields);
    expect(answer.status, answer.text).to.equal(200);
    return String(answer.body['request_id']);
  }

  /** The first poll of a job that takes no time. */
  async function finish(directives: string, fields: Json = {}): Promise<HttpAnswer> {
    return poll(await start(`seconds=0 ${directives}`, fields));
  }

  describe('POST /v1/videos/generations', () => {
    it('takes 2 s without a directive', async () => {
      const { prompt, marker } = newPrompt();
      await submitPrompt(prompt);
      const [job] = await readJobs(sandbox(), marker);
      expect(job).to.include({ vendor: 'grok', state: 'queued' });
      expect(job?.['progress']).to.be.lessThan(50);
    });

    it('prices by model, resolution, seconds and input images', async () => {
      const image = { url: 'https://example.com/fox.png' };
      const ticks = async (fields: Json): Promise<unknown> => {
        return at((await finish('', fields)).body, 'usage.cost_in_usd_ticks');
      };
      expect(await ticks({})).to.equal(4_000_000_000);
      expect(await ticks({ duration: 1, image })).to.equal(520_000_000);
      const newer = { model: 'grok-imagine-video-1.5', resolution: '1080p', duration: 15 };
      expect(await ticks({ ...newer, image, last_frame: image })).to.equal(37_700_000_000);
      expect(await ticks({ model: 'grok-imagine-video-1.5-lite', duration: 10 })).to.equal(2_000_000_000);
    });

    for (const [fields, field] of [
      [{ duration: 16 }, 'duration'],
      [{ duration: '5' }, 'duration'],
      [{ duration: 11, reference_images: [{ url: 'https://example.com/a.png' }] }, 'duration'],
      [{ resolution: '1080p' }, 'resolution'],
      [{ resolution: '1080P', model: 'grok-imagine-video-1.5' }, 'resolution'],
      [{ aspect_ratio: '9:21' }, 'aspect_ratio'],
      [{ model: 'grok-imagine-video-9' }, 'model'],
      [{ model: undefined }, 'model'],
      [{ prompt: undefined }, 'prompt'],
      [{ prompt: 'x'.repeat(4097) }, 'prompt'],
      [{ seed: 7 }, 'seed'],
      [{ image: { url: 'fox.png' } }, 'image'],
      [{ image: 'https://example.com/a.png' }, 'image'],
      [
        { reference_images: Array.from({ length: 8 }, () => ({ url: 'https://example.com/a.png' })) },
        'reference_images',
      ],
      [
        { model: 'grok-imagine-video-1.5-lite', last_frame: { url: 'https://example.com/a.png' } },
        'last_frame',
      ],
    ] as const) {
      it(`refuses ${JSON.stringify(fields).slice(0, 50)} and names the field`, async () => {
        const answer = await submit('', fields);
        expect(answer.status).to.equal(400);
        expect(at(answer.body, 'error.param')).to.equal(field);
        expect(at(answer.body, 'error.message')).to.be.a('string');
      });
    }

    it('refuses in all three shapes this vendor has', async () => {
      const detailed = await submit('', { duration: 99 });
      expect(at(detailed.body, 'error')).to.have.all.keys('message', 'type', 'param', 'code');
      const coded = await submit('submit=403');
      expect(coded.body).to.have.all.keys('code', 'error');
      const bare = await submit('submit=500');
      expect(bare.body).to.have.all.keys('error');
      expect(bare.body['error']).to.be.a('string');
    });

    it('wants a good key for submitting and polling', async () => {
      const body = { model: 'grok-imagine-video', prompt: newPrompt().prompt };
      expect((await ask(url(), { method: 'POST', key: null, body })).status).to.equal(401);
      expect((await ask(url(), { method: 'POST', key: 'xai-invalid', body })).status).to.equal(401);
      expect((await poll(await start('seconds=0'), 'xai-invalid')).status).to.equal(401);
    });

    it('refuses broken JSON and unknown directives in its own shape', async () => {
      const broken = await ask(url(), { method: 'POST', body: '{"prompt": ' });
      expect(broken.status).to.equal(400);
      expect(broken.body['error']).to.be.a('string');
      const unknown = await submit('poll=maybe');
      expect(unknown.status).to.equal(400);
      expect(at(unknown.body, 'error.message')).to.contain("'poll'");
    });

    itRefusesWithoutJob(
      { sandbox, submit: submitPrompt },
      [
        ['400', 400, null],
        ['401', 401, null],
        ['402', 402, null],
        ['403', 403, null],
        ['429', 429, '1'],
        ['500', 500, null],
        ['503', 503, '1'],
      ],
      ({ status, headers }) => [status, headers.get('retry-after')],
    );

    itBreaksConnections({ sandbox, submit: submitPrompt });

    it('answers without an id with submit=no_id and with a page with submit=html', async () => {
      expect(await submit('submit=no_id')).to.deep.include({ status: 200, body: {} });
      expect((await submit('submit=html')).headers.get('content-type')).to.contain('text/html');
    });

    it('fails the first job only with outcome=fail*1', async () => {
      const body = { model: 'grok-imagine-video', prompt: newPrompt('seconds=0 outcome=fail*1').prompt };
      const statuses: unknown[] = [];
      for (const _ of [1, 2]) {
        const { request_id: id } = (await ask(url(), { method: 'POST', body })).body;
        statuses.push((await poll(String(id))).body['status']);
      }
      expect(statuses).to.eql(['failed', 'done']);
    });
  });

  describe('GET /v1/videos/{id}', () => {
    it('goes from an empty 202 over rising progress to a video', async () => {
      const id = await start('seconds=0.4', { duration: 5, resolution: '720p', aspect_ratio: '9:16' });
      const first = await poll(id);
      expect(first).to.include({ status: 202, text: '' });
      const seen: number[] = [];
      const done = await eventually(async () => {
        const answer = await poll(id);
        if (answer.status === 200) return answer;
        expect(answer.status).to.equal(202);
        expect(answer.body['status']).to.equal('pending');
        seen.push(Number(answer.body['progress']));
        return undefined;
      });
      expect(seen).to.eql([...seen].sort((one, other) => one - other));
      expect(done.body).to.deep.include({ status: 'done', progress: 100, model: 'grok-imagine-video' });
      expect(at(done.body, 'video')).to.include({ duration: 5, respect_moderation: true });
      expect(at(done.body, 'usage.cost_in_usd_ticks')).to.equal(3_500_000_000);
      expect(done.headers.get('x-request-id')).to.be.a('string');
    });

    it('knows no other job, no cancelling and no other path', async () => {
      const id = await start('seconds=0');
      expect((await poll('d2719d5c-2f62-4f3a-9d0f-3f6f63a1a8a2')).status).to.equal(404);
      const cancelling = await ask(`${sandbox().url}/xai/v1/videos/${id}`, { method: 'DELETE' });
      expect(cancelling.status).to.equal(405);
      expect((await ask(`${sandbox().url}/xai/v1/nothing`)).status).to.equal(404);
      expect((await poll(id)).body['status']).to.equal('done');
    });

    for (const [reason, code] of [
      ['internal', 'internal_error'],
      ['invalid', 'invalid_argument'],
      ['quota', 'failed_precondition'],
      ['concurrency', 'service_unavailable'],
      ['moderation', 'permission_denied'],
    ] as const) {
      it(`fails for reason=${reason} with ${code}`, async () => {
        const answer = await finish(`outcome=fail reason=${reason}`);
        expect(answer.status).to.equal(200);
        expect(answer.body['status']).to.equal('failed');
        expect(at(answer.body, 'error.code')).to.equal(code);
        expect('block_reason' in answer.body).to.equal(reason === 'moderation');
        expect(answer.body).not.to.have.property('usage');
      });
    }

    it('shows internal details with text=leaky, in failures and in refusals', async () => {
      const failure = at((await finish('outcome=fail text=leaky')).body, 'error.message');
      const refusal = (await submit('submit=500 text=leaky')).body['error'];
      expectSensitive(failure);
      expectSensitive(refusal);
    });

    it('bills a moderated video but does not hand it out', async () => {
      const { body } = await finish('outcome=moderated');
      expect(body['status']).to.equal('done');
      expect(at(body, 'video')).to.include({ url: '', respect_moderation: false });
      expect(at(body, 'usage.cost_in_usd_ticks')).to.equal(4_000_000_000);
    });

    it('ends expired, fails when cancelled, and never ends when stuck', async () => {
      expect((await finish('outcome=expire')).body['status']).to.equal('expired');
      expect(at((await finish('outcome=cancelled')).body, 'error.code')).to.equal('failed_precondition');
      const id = await start('seconds=0 outcome=stuck');
      await poll(id);
      expect(await poll(id)).to.deep.include({ status: 202, body: { status: 'pending', progress: 99 } });
    });
  });

  describe('the directive poll', () => {
    for (const [directive, status] of [
      ['500', 500],
      ['429', 429],
      ['not_found', 404],
    ] as const) {
      it(`answers the first poll with ${status} with poll=${directive}*1`, async () => {
        const id = await start(`seconds=0 poll=${directive}*1`);
        expect((await poll(id)).status).to.equal(status);
        expect((await poll(id)).body['status']).to.equal('done');
      });
    }

    it('shows a page with poll=html and an unknown word with poll=weird', async () => {
      const id = await start('seconds=0 poll=html*1');
      expect((await poll(id)).headers.get('content-type')).to.contain('text/html');
      const weird = await finish('poll=weird');
      expect(weird.status).to.equal(200);
      expect(weird.body['status']).not.to.be.oneOf(['pending', 'done', 'failed', 'expired']);
    });

    it('shows progress out of order with poll=flap', async () => {
      const id = await start('seconds=30 poll=flap');
      const seen: unknown[] = [];
      for (const _ of [1, 2, 3, 4]) seen.push((await poll(id)).body['progress']);
      expect(seen).to.eql([50, 20, 250, -1]);
    });

    it('takes back a success with poll=regress', async () => {
      const id = await start('seconds=0 poll=regress');
      expect((await poll(id)).body['status']).to.equal('done');
      expect((await poll(id)).body['status']).to.equal('failed');
      expect((await poll(id)).body['status']).to.equal('failed');
    });

    it('never answers a poll with poll=hang, and the journal says when the client disconnected', async () => {
      const { prompt, marker } = newPrompt('seconds=0 poll=hang');
      const body = { model: 'grok-imagine-video', prompt };
      const id = String((await ask(url(), { method: 'POST', body })).body['request_id']);
      const signal = AbortSignal.timeout(100);
      expect(await isCutOff(ask(`${sandbox().url}/xai/v1/videos/${id}`, { signal }))).to.equal(true);
      const entry = await eventually(async () =>
        (await readJournal(sandbox(), marker)).find(({ clientClosedAt }) => clientClosedAt !== null),
      );
      expect(entry).to.include({ operation: 'poll', jobId: id, status: null });
    });
  });

  describe('the directive usage', () => {
    itDistortsUsage(4_000_000_000, async (directives) =>
      at((await finish(directives)).body, 'usage.cost_in_usd_ticks'),
    );
  });
});

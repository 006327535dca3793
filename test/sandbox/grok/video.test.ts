/** Grok Imagine video as the sandbox plays it. */

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
  readJournal,
  useSandbox,
} from '../support.ts';

describe('sandbox: Grok video', () => {
  const sandbox = useSandbox();
  const url = (): string => `${sandbox().url}/xai/v1/videos/generations`;

  const submit = (directives: string, fields: Json = {}): Promise<Heard> =>
    ask(url(), {
      method: 'POST',
      body: { model: 'grok-imagine-video', prompt: newPrompt(directives).prompt, ...fields },
    });

  const look = (id: string, key = 'sk-test'): Promise<Heard> =>
    ask(`${sandbox().url}/xai/v1/videos/${id}`, { key });

  async function start(directives: string, fields: Json = {}): Promise<string> {
    const heard = await submit(directives, fields);
    expect(heard.status, heard.text).to.equal(200);
    return String(heard.body['request_id']);
  }

  /** The first look at a job that takes no time. */
  async function finish(directives: string, fields: Json = {}): Promise<Heard> {
    return look(await start(`seconds=0 ${directives}`, fields));
  }

  it('goes from an empty 202 over rising progress to a video', async () => {
    const id = await start('seconds=0.4', { duration: 5, resolution: '720p', aspect_ratio: '9:16' });
    const first = await look(id);
    expect(first).to.include({ status: 202, text: '' });
    const seen: number[] = [];
    const done = await eventually(async () => {
      const heard = await look(id);
      if (heard.status === 200) return heard;
      expect(heard.status).to.equal(202);
      expect(heard.body['status']).to.equal('pending');
      seen.push(Number(heard.body['progress']));
      return undefined;
    });
    expect(seen).to.eql([...seen].sort((one, other) => one - other));
    expect(done.body).to.deep.include({ status: 'done', progress: 100, model: 'grok-imagine-video' });
    expect(at(done.body, 'video')).to.include({ duration: 5, respect_moderation: true });
    expect(at(done.body, 'usage.cost_in_usd_ticks')).to.equal(3_500_000_000);
    expect(done.headers.get('x-request-id')).to.be.a('string');
  });

  it('takes 2 s where nothing else is ordered', async () => {
    const { prompt, marker } = newPrompt();
    await ask(url(), { method: 'POST', body: { model: 'grok-imagine-video', prompt } });
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
      const heard = await submit('', fields);
      expect(heard.status).to.equal(400);
      expect(at(heard.body, 'error.param')).to.equal(field);
      expect(at(heard.body, 'error.message')).to.be.a('string');
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

  it('wants a good key for submitting and looking', async () => {
    const body = { model: 'grok-imagine-video', prompt: newPrompt().prompt };
    expect((await ask(url(), { method: 'POST', key: null, body })).status).to.equal(401);
    expect((await ask(url(), { method: 'POST', key: 'xai-invalid', body })).status).to.equal(401);
    expect((await look(await start('seconds=0'), 'xai-invalid')).status).to.equal(401);
  });

  it('refuses broken JSON and unknown directives in its own shape', async () => {
    const broken = await ask(url(), { method: 'POST', body: '{"prompt": ' });
    expect(broken.status).to.equal(400);
    expect(broken.body['error']).to.be.a('string');
    const unknown = await submit('poll=maybe');
    expect(unknown.status).to.equal(400);
    expect(at(unknown.body, 'error.message')).to.contain("'poll'");
  });

  it('knows no other job, no cancelling and no other path', async () => {
    const id = await start('seconds=0');
    expect((await look('d2719d5c-2f62-4f3a-9d0f-3f6f63a1a8a2')).status).to.equal(404);
    const cancelling = await ask(`${sandbox().url}/xai/v1/videos/${id}`, { method: 'DELETE' });
    expect(cancelling.status).to.equal(405);
    expect((await ask(`${sandbox().url}/xai/v1/nothing`)).status).to.equal(404);
    expect((await look(id)).body['status']).to.equal('done');
  });

  for (const status of [400, 401, 402, 403, 429, 500, 503]) {
    it(`answers submit=${status} without creating a job`, async () => {
      const { prompt, marker } = newPrompt(`submit=${status}`);
      const heard = await ask(url(), { method: 'POST', body: { model: 'grok-imagine-video', prompt } });
      expect(heard.status).to.equal(status);
      expect(heard.headers.get('retry-after')).to.equal(status === 429 || status === 503 ? '1' : null);
      expect(await readJobs(sandbox(), marker)).to.eql([]);
    });
  }

  for (const [fault, jobs] of [
    ['reset', 0],
    ['accept_then_reset', 1],
    ['truncated', 1],
  ] as const) {
    it(`breaks the connection with submit=${fault}, leaving ${jobs} jobs`, async () => {
      const { prompt, marker } = newPrompt(`submit=${fault}`);
      const body = { model: 'grok-imagine-video', prompt };
      expect(await breaks(ask(url(), { method: 'POST', body }))).to.equal(true);
      expect(await readJobs(sandbox(), marker)).to.have.length(jobs);
    });
  }

  it('answers without an id with submit=no_id and with a page with submit=html', async () => {
    expect(await submit('submit=no_id')).to.deep.include({ status: 200, body: {} });
    expect((await submit('submit=html')).headers.get('content-type')).to.contain('text/html');
  });

  for (const [reason, code] of [
    ['internal', 'internal_error'],
    ['invalid', 'invalid_argument'],
    ['quota', 'failed_precondition'],
    ['concurrency', 'service_unavailable'],
    ['moderation', 'permission_denied'],
  ] as const) {
    it(`fails for reason=${reason} with ${code}`, async () => {
      const heard = await finish(`outcome=fail reason=${reason}`);
      expect(heard.status).to.equal(200);
      expect(heard.body['status']).to.equal('failed');
      expect(at(heard.body, 'error.code')).to.equal(code);
      expect('block_reason' in heard.body).to.equal(reason === 'moderation');
      expect(heard.body).not.to.have.property('usage');
    });
  }

  it('shows its insides with text=leaky, in failures and in refusals', async () => {
    const failure = at((await finish('outcome=fail text=leaky')).body, 'error.message');
    const refusal = (await submit('submit=500 text=leaky')).body['error'];
    for (const part of Object.values(SENSITIVE_PARTS)) {
      expect(failure).to.contain(part);
      expect(refusal).to.contain(part);
    }
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
    await look(id);
    expect(await look(id)).to.deep.include({ status: 202, body: { status: 'pending', progress: 99 } });
  });

  it('fails the first job only with outcome=fail*1', async () => {
    const body = { model: 'grok-imagine-video', prompt: newPrompt('seconds=0 outcome=fail*1').prompt };
    const words: unknown[] = [];
    for (const _ of [1, 2]) {
      const { request_id: id } = (await ask(url(), { method: 'POST', body })).body;
      words.push((await look(String(id))).body['status']);
    }
    expect(words).to.eql(['failed', 'done']);
  });

  for (const [poll, status] of [
    ['500', 500],
    ['429', 429],
    ['not_found', 404],
  ] as const) {
    it(`answers the first look with ${status} with poll=${poll}*1`, async () => {
      const id = await start(`seconds=0 poll=${poll}*1`);
      expect((await look(id)).status).to.equal(status);
      expect((await look(id)).body['status']).to.equal('done');
    });
  }

  it('shows a page with poll=html and an unknown word with poll=weird', async () => {
    const id = await start('seconds=0 poll=html*1');
    expect((await look(id)).headers.get('content-type')).to.contain('text/html');
    const weird = await finish('poll=weird');
    expect(weird.status).to.equal(200);
    expect(weird.body['status']).not.to.be.oneOf(['pending', 'done', 'failed', 'expired']);
  });

  it('shows progress out of order with poll=flap', async () => {
    const id = await start('seconds=30 poll=flap');
    const seen: unknown[] = [];
    for (const _ of [1, 2, 3, 4]) seen.push((await look(id)).body['progress']);
    expect(seen).to.eql([50, 20, 250, -1]);
  });

  it('takes back a success with poll=regress', async () => {
    const id = await start('seconds=0 poll=regress');
    expect((await look(id)).body['status']).to.equal('done');
    expect((await look(id)).body['status']).to.equal('failed');
    expect((await look(id)).body['status']).to.equal('failed');
  });

  it('never answers a look with poll=hang, and the journal says when the client went', async () => {
    const { prompt, marker } = newPrompt('seconds=0 poll=hang');
    const body = { model: 'grok-imagine-video', prompt };
    const id = String((await ask(url(), { method: 'POST', body })).body['request_id']);
    const signal = AbortSignal.timeout(100);
    expect(await breaks(ask(`${sandbox().url}/xai/v1/videos/${id}`, { signal }))).to.equal(true);
    const entry = await eventually(async () =>
      (await readJournal(sandbox(), marker)).find(({ clientClosedAt }) => clientClosedAt !== null),
    );
    expect(entry).to.include({ operation: 'poll', jobId: id, status: null });
  });

  it('tells any consumption with usage', async () => {
    const told = async (usage: string): Promise<unknown> =>
      at((await finish(`usage=${usage}`)).body, 'usage.cost_in_usd_ticks');
    expect(await told('missing')).to.equal(undefined);
    expect(await told('zero')).to.equal(0);
    expect(await told('negative')).to.equal(-4_000_000_000);
    expect(await told('triple')).to.equal(12_000_000_000);
    expect(await told('huge')).to.be.greaterThan(Number.MAX_SAFE_INTEGER);
    expect(await told('text')).to.be.a('string');
  });
});

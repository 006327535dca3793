// Submitting Grok Imagine videos to the sandbox: prices, refusals and lost answers.

import { expect } from 'chai';
import { ask, at, type Json, newPrompt, readJobs } from '../support.ts';
import { itBreaksConnections, itRefusesWithoutJob } from '../vendor-rules.ts';
import { useGrokVideo } from './support.ts';

describe('sandbox: Grok video', () => {
  const { sandbox, url, submitPrompt, submit, poll, start, finish } = useGrokVideo();

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

    it('answers without an id with submit=no_id, with NUL in it with submit=nul_id, with a page with submit=html', async () => {
      expect(await submit('submit=no_id')).to.deep.include({ status: 200, body: {} });
      expect(at((await submit('submit=nul_id')).body, 'request_id')).to.match(/^[\w-]+\0$/);
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
});

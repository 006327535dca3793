// Polling Grok Imagine videos at the sandbox: progress, ends, and the directives poll and usage.

import { expect } from 'chai';
import { ask, at, eventually, expectSensitive, isCutOff, newPrompt, readJournal } from '../support.ts';
import { itDistortsUsage } from '../vendor-rules.ts';
import { useGrokVideo } from './support.ts';

describe('sandbox: Grok video', () => {
  const { sandbox, url, submit, poll, start, finish } = useGrokVideo();

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

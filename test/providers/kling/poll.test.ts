// Kling: how answers to a poll read in either API.
import { expect } from 'chai';
import { failureOf, verdictOf } from '../stand-in.ts';
import { describeKling, URL_OF_VIDEO } from './support.ts';

describeKling(({ vendor, answer }) => {
  describe('poll', () => {
    const legacy = { id: 't-1', credential: 'first', dialect: 'legacy', kind: 'text2video' };
    const three = { id: 't-1', credential: 'first', dialect: '3' };
    const looks = {
      legacy: (task: object) => (answer({ task_id: 't-1', ...task }), vendor.provider.poll?.(legacy)),
      three: (task: object) => (answer([{ id: 't-1', ...task }]), vendor.provider.poll?.(three)),
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
      expect(vendor.received.at(-1)?.path).to.equal('/tasks?task_ids=t-1');
      answer({ id: 't-1', status: 'submitted' });
      expect(await vendor.provider.poll?.(three)).to.deep.equal({ kind: 'queued' });
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
      expect(verdictOf(await failureOf(Promise.resolve(vendor.provider.poll?.(three))))).to.equal(
        'expired, refused',
      );
      answer([{ id: 'another', status: 'succeeded' }]);
      expect(verdictOf(await failureOf(Promise.resolve(vendor.provider.poll?.(three))))).to.equal(
        'expired, refused',
      );
      answer(undefined, 1203, 404);
      expect(verdictOf(await failureOf(Promise.resolve(vendor.provider.poll?.(legacy))))).to.equal(
        'expired, refused',
      );
    });
  });
});

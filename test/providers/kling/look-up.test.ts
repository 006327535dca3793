// Kling: how a job is found again by our own id.
import { expect } from 'chai';
import { failureOf, sendJson, verdictOf } from '../stand-in.ts';
import { describeKling, klingJob, START_MS } from './support.ts';

describeKling(({ vendor, clock, answer, providerWith }) => {
  describe('lookUp by the external id', () => {
    const sentAt = new Date(START_MS);

    function duplicateThen(found: unknown, message = 'External task id task_1-2 already exists'): void {
      vendor.play = (res, { method }) => {
        const refusal = { code: 1201, message };
        if (method === 'POST') sendJson(res, 400, refusal);
        else sendJson(res, 200, { code: 0, data: found });
      };
    }

    it('is found where the vendor has it', async () => {
      answer([{ id: 't-9', external_id: 'task_1-2', status: 'submitted' }]);
      const found = { kind: 'found', handle: { id: 't-9', credential: 'first', dialect: '3' } };
      expect(await vendor.provider.lookUp?.(klingJob('kling-3.0'), sentAt)).to.deep.equal(found);
      expect(vendor.received.at(-1)?.path).to.equal('/tasks?external_task_ids=task_1-2');
      answer({ task_id: 't-9', task_info: { external_task_id: 'task_1-2' } });
      const legacy = { id: 't-9', credential: 'first', dialect: 'legacy', kind: 'text2video' };
      expect(await vendor.provider.lookUp?.(klingJob('kling-v2-6'), sentAt)).to.deep.equal({
        kind: 'found',
        handle: legacy,
      });
      expect(vendor.received.at(-1)?.path).to.equal('/v1/videos/text2video/task_1-2');
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
        expect(await vendor.provider.lookUp?.(klingJob('kling-3.0'), sentAt)).to.deep.equal({
          kind: 'unclear',
        });
      }
    });

    it('is absent where the vendor has it not, among several accounts only after four seconds', async () => {
      answer([]);
      const job = klingJob('kling-3.0');
      clock.nowMs = START_MS + 3_999;
      expect(await vendor.provider.lookUp?.(job, sentAt)).to.deep.equal({ kind: 'unclear' });
      expect(await providerWith(['only']).lookUp?.(job, sentAt)).to.deep.equal({ kind: 'absent' });
      clock.nowMs = START_MS + 4_000;
      expect(await vendor.provider.lookUp?.(job, sentAt)).to.deep.equal({ kind: 'absent' });
      clock.nowMs = START_MS;
      answer(undefined, 1203, 404);
      expect(await providerWith(['only']).lookUp?.(klingJob('kling-v2-6'), sentAt)).to.deep.equal({
        kind: 'absent',
      });
    });

    it('is the earlier job when a second one of the same id is refused', async () => {
      duplicateThen([{ id: 't-9', external_id: 'task_1-2', status: 'processing' }]);
      expect(await vendor.provider.submit(klingJob('kling-3.0'))).to.deep.include({
        kind: 'accepted',
        handle: { id: 't-9', credential: 'first', dialect: '3' },
      });
    });

    it('is unknown while its list does not show what it says it has', async () => {
      duplicateThen([]);
      const alone = providerWith(['only']);
      expect(verdictOf(await failureOf(alone.submit(klingJob('kling-3.0'))))).to.equal('transient, unknown');
      duplicateThen([{ id: 't-9', external_id: 'another' }]);
      expect(verdictOf(await failureOf(vendor.provider.submit(klingJob('kling-3.0'))))).to.equal(
        'transient, unknown',
      );
    });

    it('has nothing to do with other things that exist already', async () => {
      duplicateThen([], 'The element already exists');
      const alone = providerWith(['only']);
      expect(verdictOf(await failureOf(alone.submit(klingJob('kling-3.0'))))).to.equal('invalid, refused');
    });
  });
});

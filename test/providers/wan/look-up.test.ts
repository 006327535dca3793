// Wan videos: how lost work is found by the mark in its prompt.
import { expect } from 'chai';
import { sendJson } from '../stand-in.ts';
import { describeWan, PROMPT, sent, TASKS, wanJob } from './support.ts';

describeWan((vendor) => {
  describe('lookUp', () => {
    const sentAt = new Date('2026-11-20T12:00:00Z');
    const entry = { task_id: 'ours', model_name: 'wan3.0-video', gmt_create: sentAt.getTime() + 500 };

    /** Looks the job up at a vendor that lists these tasks; `promptOf` gives the prompt of each. */
    async function lookUp(data: object[], promptOf: (id: string) => string | undefined) {
      vendor.play = (res, { path }) => {
        const id = path.slice(`${TASKS}/`.length);
        if (id.startsWith('?')) sendJson(res, 200, { data, total: data.length });
        else
          sendJson(res, 200, { output: { task_id: id, task_status: 'RUNNING', orig_prompt: promptOf(id) } });
      };
      const before = vendor.received.length;
      const found = await vendor.provider.lookUp?.(wanJob(), sentAt);
      return { found, asked: vendor.received.slice(before).map(({ path }) => path) };
    }

    it('is found by its prompt with the mark, the nearest in time first', async () => {
      const { prompt } = (await sent(vendor, wanJob())).input;
      const far = { ...entry, task_id: 'far', gmt_create: entry.gmt_create + 60_000 };
      const { found, asked } = await lookUp([far, entry], (id) => (id === 'ours' ? prompt : PROMPT));
      expect(found).to.deep.equal({ kind: 'found', handle: { id: 'ours', credential: 'default' } });
      expect(asked).to.deep.equal([
        `${TASKS}/?model_name=wan3.0-video&page_no=1&page_size=100`,
        `${TASKS}/ours`,
      ]);
    });

    it('is unclear for the same words without the mark: they may be somebody else’s', async () => {
      expect((await lookUp([entry], () => PROMPT)).found).to.deep.equal({ kind: 'unclear' });
      expect((await lookUp([entry], () => undefined)).found).to.deep.equal({ kind: 'unclear' });
      expect((await lookUp([], () => PROMPT)).found).to.deep.equal({ kind: 'unclear' });
    });

    it('asks about no task of another model or time, and about fifteen at most', async () => {
      const others = [
        { ...entry, model_name: 'wan2.7-t2v' },
        { ...entry, gmt_create: entry.gmt_create - 120_000 },
        { ...entry, gmt_create: entry.gmt_create + 3_600_000 },
        { ...entry, gmt_create: 'yesterday' },
      ];
      expect((await lookUp(others, () => PROMPT)).asked).to.have.length(1);
      const many = Array.from({ length: 40 }, (_, index) => ({ ...entry, task_id: `t${index}` }));
      expect((await lookUp(many, () => PROMPT)).asked).to.have.length(16);
    });
  });
});

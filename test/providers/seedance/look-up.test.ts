// Seedance videos: how lost work is found by its mark.
import { expect } from 'chai';
import { sendJson } from '../stand-in.ts';
import { describeSeedance, MARK, MODEL, seedanceJob, TASKS } from './support.ts';

describeSeedance((vendor) => {
  describe('lookUp', () => {
    const sentAt = new Date('2026-11-20T12:00:00Z');
    const createdAt = sentAt.getTime() / 1000 + 1;
    const ours = {
      id: 'cgt-ours',
      model: MODEL,
      status: 'queued',
      safety_identifier: MARK,
      created_at: createdAt,
    };

    async function lookUp(...items: object[]) {
      vendor.play = (res) => sendJson(res, 200, { items, total: items.length });
      return vendor.provider.lookUp?.(seedanceJob(), sentAt);
    }

    it('is found by its mark in the list of its model', async () => {
      const other = { ...ours, id: 'cgt-other', safety_identifier: 'of-another' };
      expect(await lookUp(other, ours)).to.deep.equal({
        kind: 'found',
        handle: { id: 'cgt-ours', credential: 'default' },
      });
      const { path = '' } = vendor.received.at(-1) ?? {};
      expect(path).to.equal(`${TASKS}?page_num=1&page_size=200&filter.model=${MODEL}`);
    });

    const doubts: Record<string, object[]> = {
      'when nothing is listed': [],
      'with another mark': [{ ...ours, safety_identifier: 'x' }],
      'without a mark': [{ ...ours, safety_identifier: undefined }],
      'of another model': [{ ...ours, model: 'seedance-1-0-pro-250528' }],
      'from before it was sent': [{ ...ours, created_at: createdAt - 120 }],
      'from long after': [{ ...ours, created_at: createdAt + 3_600 }],
      'without a time': [{ ...ours, created_at: undefined }],
      'of another duration': [{ ...ours, duration: 9 }],
      'of another resolution': [{ ...ours, resolution: '480p' }],
      'when two fit': [ours, { ...ours, id: 'cgt-twin' }],
      'without an id': [{ ...ours, id: undefined }],
      'with an id that cannot be stored': [{ ...ours, id: 'cgt-1\0' }],
    };
    for (const [title, items] of Object.entries(doubts))
      it(`is unclear ${title}`, async () => {
        expect(await lookUp(...items)).to.deep.equal({ kind: 'unclear' });
      });
  });
});

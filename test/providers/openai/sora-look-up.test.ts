// OpenAI’s Videos API: finding a job whose answer was lost.
import { expect } from 'chai';
import { sendJson } from '../stand-in.ts';
import { DATA_URI, describeSora, soraJob } from './sora-support.ts';

const SENT_AT = new Date('2026-11-20T12:00:00Z');
const SENT_AT_SECONDS = SENT_AT.getTime() / 1000;

describeSora((vendor) => {
  describe('lookUp after its answer was lost', () => {
    const entry = (changes: object = {}) => ({
      id: 'video_1',
      model: 'sora-2-pro',
      prompt: 'a cat that runs',
      seconds: '8',
      size: '1280x720',
      created_at: SENT_AT_SECONDS + 1,
      remixed_from_video_id: null,
      ...changes,
    });
    const lookUp = (data: object[], rest: object = {}, ordered = soraJob()) => {
      vendor.play = (res) => sendJson(res, 200, { object: 'list', data, has_more: false, ...rest });
      return vendor.provider.lookUp?.(ordered, SENT_AT);
    };
    const unclear = { kind: 'unclear' };

    it('is the one entry with everything that was ordered', async () => {
      const other = entry({ id: 'video_2', prompt: 'a dog' });
      const found = { kind: 'found', handle: { id: 'video_1', credential: 'default' } };
      expect(await lookUp([other, entry()])).to.deep.equal(found);
      expect(await lookUp([entry({ seconds: 8 })])).to.deep.equal(found);
      expect(vendor.received[0]?.path).to.equal('/v1/videos?limit=100&order=desc');
    });

    const others: object[] = [
      { prompt: 'a cat that runs ' },
      { prompt: null },
      { model: 'sora-2' },
      { seconds: '4' },
      { size: '720x1280' },
      { created_at: SENT_AT_SECONDS - 60 },
      { created_at: SENT_AT_SECONDS + 600 },
      { created_at: undefined },
      { remixed_from_video_id: 'video_0' },
      { id: '' },
    ];
    for (const changes of others)
      it(`is not one with ${JSON.stringify(changes)}`, async () => {
        expect(await lookUp([entry(changes)])).to.deep.equal(unclear);
      });

    it('stays unclear with two of them, with none, and when the list goes on in that time', async () => {
      expect(await lookUp([entry(), entry({ id: 'video_2' })])).to.deep.equal(unclear);
      expect(await lookUp([])).to.deep.equal(unclear);
      expect(await lookUp([entry()], { has_more: true })).to.deep.equal(unclear);
      const older = entry({ id: 'video_0', created_at: SENT_AT_SECONDS - 900 });
      expect(await lookUp([entry(), older], { has_more: true })).to.include({ kind: 'found' });
    });

    it('stays unclear with an input image, which the list does not show', async () => {
      const withFrame = soraJob({ imageRole: 'first_frame', inputImages: 1 }, { inputImages: [DATA_URI] });
      expect(await lookUp([entry()], {}, withFrame)).to.deep.equal(unclear);
      expect(vendor.received).to.deep.equal([]);
    });
  });
});

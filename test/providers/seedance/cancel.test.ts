// Seedance videos: which of them are cancelled, and how the answers read.
import { expect } from 'chai';
import { sendJson } from '../stand-in.ts';
import { describeSeedance, VIDEO } from './support.ts';

describeSeedance((vendor) => {
  describe('cancel', () => {
    async function cancelWhen(status: string, deleted = 200) {
      vendor.play = (res, { method }) => {
        if (method === 'GET') sendJson(res, 200, { status, content: { video_url: VIDEO } });
        else
          sendJson(res, deleted, deleted === 200 ? {} : { error: { code: 'InvalidAction', message: 'm' } });
      };
      const before = vendor.received.length;
      const answer = await vendor.provider.cancel?.({ id: 'cgt-1', credential: 'default' });
      return [answer, ...vendor.received.slice(before).map(({ method }) => method)];
    }

    it('is deleted only while it is queued', async () => {
      expect(await cancelWhen('queued')).to.deep.equal(['cancelled', 'GET', 'DELETE']);
    });

    for (const status of ['running', 'succeeded', 'failed', 'expired', 'simmering'])
      it(`is left alone when ${status}, since a deletion would erase its record`, async () => {
        expect(await cancelWhen(status)).to.deep.equal(['too_late', 'GET']);
      });

    it('is too late when it began in between', async () => {
      expect(await cancelWhen('queued', 409)).to.deep.equal(['too_late', 'GET', 'DELETE']);
    });
  });
});

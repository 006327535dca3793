// Wan videos: how they are cancelled.
import { expect } from 'chai';
import { failureOf, sendJson, verdictOf } from '../stand-in.ts';
import { describeWan, TASKS } from './support.ts';

describeWan((vendor) => {
  describe('cancel', () => {
    const cancel = async (status: number, json: object) => {
      vendor.play = (res) => sendJson(res, status, json);
      return vendor.provider.cancel?.({ id: 't/1', credential: 'second' });
    };

    it('is asked for with one POST', async () => {
      expect(await cancel(200, { request_id: 'r' })).to.equal('cancelled');
      const { method, path } = vendor.received.at(-1) ?? {};
      expect([method, path]).to.deep.equal(['POST', `${TASKS}/t%2F1/cancel`]);
    });

    it('is too late once it began', async () => {
      expect(await cancel(400, { code: 'UnsupportedOperation', message: 'm' })).to.equal('too_late');
    });

    it('fails when nobody knows what became of it', async () => {
      const failure = await failureOf(Promise.resolve(cancel(500, { code: 'InternalError', message: 'm' })));
      expect(verdictOf(failure)).to.equal('transient, unknown');
    });
  });
});

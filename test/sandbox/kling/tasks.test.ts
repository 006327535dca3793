// Tasks of the sandbox’s Kling in either API: how they end, and the directives that change what is shown.

import { expect } from 'chai';
import { ask, at, expectSensitive } from '../support.ts';
import { useKling } from './support.ts';

describe('sandbox: Kling', () => {
  const { base, legacy, pollLegacy, three, finishLegacy, finishThree } = useKling();

  describe('tasks of either API', () => {
    it('fails with a text alone, and shows internal details with text=leaky', async () => {
      for (const [directives, words] of [
        ['outcome=fail', 'could not be generated'],
        ['outcome=fail reason=quota', 'balance'],
        ['outcome=fail reason=concurrency', 'Parallel task'],
        ['outcome=moderated', 'risk control'],
        ['outcome=cancelled', 'cancelled'],
      ] as const) {
        expect(await finishLegacy(directives), directives).to.include({ task_status: 'failed' });
        expect(at(await finishLegacy(directives), 'task_status_msg')).to.contain(words);
        expect(await finishThree(directives))
          .to.include({ status: 'failed' })
          .and.not.to.have.property('billing');
      }
      const failure = at(await finishThree('outcome=fail text=leaky'), 'message');
      const refusal = (await three('submit=500 text=leaky')).body['message'];
      expectSensitive([failure, refusal].join());
    });

    it('forgets a task that expired, and applies the directives poll, usage, deliver and result', async () => {
      expect(await finishThree('outcome=expire')).to.equal(undefined);
      expect(await finishThree('poll=weird')).to.include({ status: 'simmering' });
      expect(at(await finishThree('usage=text'), 'billing.0.amount')).to.equal('plenty');
      expect(at(await finishLegacy('usage=negative'), 'final_unit_deduction')).to.equal('-1.5');
      expect(await finishLegacy('usage=missing')).not.to.have.property('final_unit_deduction');
      expect(at(await finishThree('deliver=0'), 'outputs')).to.eql([]);
      expect(at(await finishThree('result=missing'), 'outputs.0')).not.to.have.property('url');
      const id = at((await legacy('seconds=0 poll=500*1')).body, 'data.task_id');
      expect((await pollLegacy(String(id))).body['code']).to.equal(5000);
      expect((await pollLegacy(String(id))).body['code']).to.equal(0);
    });

    it('knows no other path and no cancelling', async () => {
      expect((await ask(`${base()}/nothing`)).body['code']).to.equal(1203);
      expect((await ask(`${base()}/v1/videos/lip-sync/1`)).status).to.equal(404);
      const id = at((await legacy('seconds=0')).body, 'data.task_id');
      const cancelling = await ask(`${base()}/v1/videos/text2video/${String(id)}`, { method: 'DELETE' });
      expect([cancelling.status, cancelling.body['code']]).to.eql([405, 1202]);
    });
  });
});

// Submitting to the sandbox’s Kling in either API: prices, own ids, keys, refusals and lost answers.

import { expect } from 'chai';
import { at, type Json, newPrompt } from '../support.ts';
import { itBreaksConnections, itRefusesWithoutJob, type Submissions } from '../vendor-rules.ts';
import { useKling } from './support.ts';

describe('sandbox: Kling', () => {
  const { sandbox, post, legacy, pollLegacy, three, list, finishLegacy } = useKling();

  describe('submissions to either API', () => {
    it('prices by model, resolution, sound and input video', async () => {
      const units = async (path: string, body: Json): Promise<unknown> => {
        const answer = await post(path, body);
        expect(answer.status, answer.text).to.equal(200);
        const id = String(at(answer.body, 'data.id'));
        return at((await list(`task_ids=${id}`)).body, 'data.0.billing.0.amount');
      };
      const text = newPrompt('seconds=0').prompt;
      const contents = [{ type: 'prompt', text }];
      const video = { type: 'feature_video', url: 'https://example.com/a.mp4' };
      const settings = { multi_shot: true };
      expect(await units('/text-to-video/kling-3.0-turbo', { prompt: text })).to.equal('4');
      expect(await units('/omni-video/kling-3.0-omni', { contents })).to.equal('3');
      expect(
        await units('/omni-video/kling-3.0-omni', { contents: [...contents, video], settings }),
      ).to.equal('4.5');
      expect(at(await finishLegacy('', { mode: 'std' }), 'final_unit_deduction')).to.equal('1.5');
    });

    it('knows a task by the customer’s own id and refuses a second one of it', async () => {
      const own = { external_task_id: 'mine-1' };
      const first = await legacy('seconds=0', own);
      const id = at(first.body, 'data.task_id');
      expect(at(first.body, 'data.task_info.external_task_id')).to.equal('mine-1');
      expect(at((await pollLegacy('mine-1')).body, 'data.task_id')).to.equal(id);
      expect((await pollLegacy('mine-1', 'image2video')).status).to.equal(404);
      expect((await pollLegacy('mine-1', 'text2video', 'another-key')).status).to.equal(404);
      const second = await legacy('seconds=0', own);
      expect([second.status, second.body['code']]).to.eql([400, 1201]);
      expect(second.body['message']).to.contain('already exists');
      const newer = await three('seconds=0', { options: { external_task_id: 'mine-2' } });
      const found = await list('external_task_ids=mine-2,unknown');
      expect(at(found.body, 'data')).to.have.length(1);
      expect(at(found.body, 'data.0.id')).to.equal(at(newer.body, 'data.id'));
      expect(at((await list('external_task_ids=unknown')).body, 'data')).to.eql([]);
    });

    it('wants a plain key since 3.0, and a token of its time in the flat API', async () => {
      const token = (exp: number, nbf: number): string => {
        const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url');
        const now = Math.floor(Date.now() / 1000);
        return `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: 'AK', exp: now + exp, nbf: now + nbf })}.sig`;
      };
      const codeSince3 = async (key: string) => (await list('task_ids=1', key)).body['code'];
      const codeWith = async (key: string) => (await pollLegacy('1', 'text2video', key)).body['code'];
      expect(await codeSince3('')).to.equal(1002);
      expect(await codeSince3('invalid')).to.equal(1002);
      expect(await codeSince3('plain')).to.equal(0);
      expect(await codeSince3(token(1800, -5))).to.equal(1002);
      expect(await codeWith(token(1800, -5))).to.equal(1203);
      expect(await codeWith(token(-1, -5))).to.equal(1004);
      expect(await codeWith(token(1800, 60))).to.equal(1003);
    });

    const submissions: Submissions = {
      sandbox,
      submit: (text) => post('/text-to-video/kling-3.0', { prompt: text }),
    };

    itRefusesWithoutJob(
      submissions,
      [
        ['400', 400, 1201],
        ['401', 401, 1002],
        ['402', 429, 1101],
        ['403', 403, 1103],
        ['429', 429, 1302],
        ['500', 500, 5000],
        ['503', 503, 5001],
      ],
      ({ status, body }) => [status, body['code']],
    );

    itBreaksConnections(submissions);

    it('answers without data with submit=no_id', async () => {
      expect(at((await three('submit=no_id')).body, 'data')).to.eql({});
    });
  });
});

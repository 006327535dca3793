// Kling as the sandbox plays it in the flat API.

import { expect } from 'chai';
import { at, followStatus } from '../support.ts';
import { PICTURE, useKling } from './support.ts';

describe('sandbox: Kling', () => {
  const { legacy, pollLegacy } = useKling();

  describe('the flat API', () => {
    it('goes from submitted over processing to succeed in the flat API', async () => {
      const answer = await legacy('seconds=0.4', { duration: '10', mode: 'pro', sound: 'on' });
      expect(answer.body).to.include({ code: 0 });
      expect(at(answer.body, 'data.task_status')).to.equal('submitted');
      const id = String(at(answer.body, 'data.task_id'));
      const { statuses, done } = await followStatus(() => pollLegacy(id), 'data.task_status', 'succeed');
      expect(statuses).to.eql(['submitted', 'processing', 'succeed']);
      expect(at(done.body, 'data.final_unit_deduction')).to.equal('10');
      expect(at(done.body, 'data.task_result.videos.0.duration')).to.equal('10.041');
      const url = String(at(done.body, 'data.task_result.videos.0.url'));
      expect((await fetch(url)).headers.get('content-type')).to.equal('video/mp4');
    });

    const image = { prompt: 'a', model_name: 'kling-v2-6', image: PICTURE };

    for (const [fields, field, kind] of [
      [{ duration: 5 }, 'duration', 'text2video'],
      [{ duration: '7' }, 'duration', 'text2video'],
      [{ negative_prompt: 'd'.repeat(2_501) }, 'negative_prompt', 'text2video'],
      [{ mode: 'ultra' }, 'mode', 'text2video'],
      [{ sound: 'on' }, 'sound', 'text2video'],
      [{ sound: 'on', mode: 'pro', model_name: 'kling-v2-5-turbo' }, 'sound', 'text2video'],
      [{ aspect_ratio: '4:3' }, 'aspect_ratio', 'text2video'],
      [{ model_name: 'kling-v9' }, 'model_name', 'text2video'],
      [{ prompt: 'x'.repeat(2501) }, 'prompt', 'text2video'],
      [{ seed: 7 }, 'seed', 'text2video'],
      [{ ...image, aspect_ratio: '16:9' }, 'aspect_ratio', 'image2video'],
      [{ ...image, image: 'data:image/png;base64,AAAA' }, 'image', 'image2video'],
      [{ ...image, image: undefined, image_tail: PICTURE }, 'image', 'image2video'],
    ] as const) {
      it(`refuses ${JSON.stringify(fields).slice(0, 50)} in the flat API and names the field`, async () => {
        const answer = await legacy('', fields, kind);
        expect([answer.status, answer.body['code']]).to.eql([400, 1201]);
        expect(String(answer.body['message'])).to.match(new RegExp(`^${field}:`));
      });
    }
  });
});

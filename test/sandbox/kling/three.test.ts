// Kling as the sandbox plays it in the API since 3.0.

import { expect } from 'chai';
import { at } from '../support.ts';
import { PICTURE, useKling } from './support.ts';

describe('sandbox: Kling', () => {
  const { post, three, finishThree } = useKling();

  describe('the API since 3.0', () => {
    it('goes from submitted to succeeded in the API since 3.0', async () => {
      const settings = { resolution: '1080p', duration: 3, audio: 'native', aspect_ratio: '9:16' };
      expect(await finishThree('', settings)).to.deep.include({
        status: 'succeeded',
        billing: [{ charge_type: 'unit', amount: '3.6', package_type: 'video' }],
      });
      const waiting = await three('seconds=600');
      expect(at(waiting.body, 'data.status')).to.equal('submitted');
    });

    const prompt = { type: 'prompt', text: 'a fox' };

    const frame = { type: 'first_frame', url: PICTURE };

    for (const [path, fields, field] of [
      ['/text-to-video/kling-3.0', { prompt: 'a', settings: { duration: '5' } }, 'settings.duration'],
      ['/text-to-video/kling-3.0', { prompt: 'a', settings: { duration: 2 } }, 'settings.duration'],
      [
        '/text-to-video/kling-3.0-turbo',
        { prompt: 'a', settings: { resolution: '4k' } },
        'settings.resolution',
      ],
      ['/text-to-video/kling-3.0-turbo', { prompt: 'a', settings: { audio: 'off' } }, 'settings.audio'],
      ['/text-to-video/kling-3.0', { prompt: 'a', settings: { fps: 24 } }, 'settings.fps'],
      ['/text-to-video/kling-3.0', { contents: [prompt] }, 'contents'],
      ['/image-to-video/kling-3.0', { contents: [prompt] }, 'contents'],
      [
        '/image-to-video/kling-3.0-turbo',
        { contents: [prompt, frame, { type: 'last_frame', url: PICTURE }] },
        'contents',
      ],
      [
        '/image-to-video/kling-3.0',
        { contents: [prompt, frame, { type: 'refer_image', url: PICTURE }] },
        'contents\\[2\\].type',
      ],
      ['/omni-video/kling-3.0-omni', { prompt: 'a', contents: [prompt] }, 'prompt'],
      [
        '/omni-video/kling-3.0-omni',
        { contents: [prompt, { type: 'feature_video', url: PICTURE }], settings: { audio: 'native' } },
        'settings.multi_shot',
      ],
      [
        '/omni-video/kling-3.0-omni',
        {
          contents: [prompt, { type: 'feature_video', url: PICTURE }],
          settings: { audio: 'native', multi_shot: true },
        },
        'settings.audio',
      ],
      [
        '/omni-video/kling-3.0-omni',
        {
          contents: [
            prompt,
            { type: 'feature_video', url: PICTURE },
            ...Array.from({ length: 5 }, () => ({ type: 'refer_image', url: PICTURE })),
          ],
          settings: { multi_shot: true },
        },
        'contents',
      ],
    ] as const) {
      it(`refuses ${path} with ${JSON.stringify(fields).slice(0, 60)} and names the field`, async () => {
        const answer = await post(path, fields);
        expect([answer.status, answer.body['code']], answer.text).to.eql([400, 1201]);
        expect(String(answer.body['message'])).to.match(new RegExp(`^${field}:`));
      });
    }
  });
});

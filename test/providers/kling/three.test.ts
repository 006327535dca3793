// Kling: what is asked for in its API since 3.0.
import { expect } from 'chai';
import { PNG_BASE64, PNG_DATA_URI } from '../../support/inputs.ts';
import { failureOf, sendJson, verdictOf } from '../stand-in.ts';
import { describeKling, klingJob, PICTURE } from './support.ts';

describeKling(({ vendor, answer, sent }) => {
  describe('submit to the API since 3.0', () => {
    const settings = { resolution: '720p', duration: 5, audio: 'off', multi_shot: false };
    const options = { external_task_id: 'task_1-2' };

    it('has the model in its path and the choices in settings', async () => {
      expect(await sent(klingJob('kling-3.0'))).to.deep.equal({
        path: '/text-to-video/kling-3.0',
        body: { prompt: 'a cat that runs', settings: { ...settings, aspect_ratio: '16:9' }, options },
      });
    });

    it('has the first and the last frame among its contents, without a ratio', async () => {
      const job = klingJob('kling-3.0', { audio: true, inputImages: 2, imageRole: 'first_and_last_frame' });
      expect(await sent({ ...job, inputImages: [PICTURE, PNG_DATA_URI] })).to.deep.equal({
        path: '/image-to-video/kling-3.0',
        body: {
          contents: [
            { type: 'prompt', text: 'a cat that runs' },
            { type: 'first_frame', url: PICTURE },
            { type: 'last_frame', url: PNG_BASE64 },
          ],
          settings: { ...settings, audio: 'native' },
          options,
        },
      });
    });

    it('says nothing about sound to the turbo model, which always has it', async () => {
      const { path, body } = await sent(klingJob('kling-3.0-turbo', { audio: true }));
      expect(path).to.equal('/text-to-video/kling-3.0-turbo');
      expect(body).to.have.property('settings').that.does.not.have.property('audio');
    });

    it('has references and an input video in the omni model, with the prompt among the contents', async () => {
      const job = klingJob('kling-3.0-omni', { inputImages: 2, imageRole: 'references', inputVideos: 1 });
      const inputs = { inputImages: [PICTURE, PNG_DATA_URI], inputVideos: ['https://example.com/a.mp4'] };
      expect(await sent({ ...job, ...inputs })).to.deep.equal({
        path: '/omni-video/kling-3.0-omni',
        body: {
          contents: [
            { type: 'prompt', text: 'a cat that runs' },
            { type: 'refer_image', url: PICTURE },
            { type: 'refer_image', url: PNG_BASE64 },
            { type: 'feature_video', url: 'https://example.com/a.mp4' },
          ],
          settings: { ...settings, aspect_ratio: '16:9', multi_shot: true },
          options,
        },
      });
    });

    for (const data of [{}, null, [], { id: '' }, { id: 7 }])
      it(`has no id in ${JSON.stringify(data)}`, async () => {
        answer(data);
        const failure = await failureOf(vendor.provider.submit(klingJob('kling-3.0')));
        expect(verdictOf(failure)).to.equal('invalid_response, unknown');
      });

    it('is no answer at all without the envelope', async () => {
      vendor.play = (res) => sendJson(res, 200, { id: 't-1' });
      const failure = await failureOf(vendor.provider.submit(klingJob('kling-3.0')));
      expect(verdictOf(failure)).to.equal('invalid_response, unknown');
    });
  });
});

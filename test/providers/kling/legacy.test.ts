// Kling: what is asked for in its flat API.
import { expect } from 'chai';
import { PNG_BASE64, PNG_DATA_URI } from '../../support/inputs.ts';
import { describeKling, klingJob, PICTURE } from './support.ts';

describeKling(({ vendor, answer, sent }) => {
  describe('submit to the flat API', () => {
    it('is asked for in concrete values, the resolution as a mode, the seconds as a text', async () => {
      expect(await sent(klingJob('kling-v2-6', { resolution: '1080p', audio: true }))).to.deep.equal({
        path: '/v1/videos/text2video',
        body: {
          model_name: 'kling-v2-6',
          prompt: 'a cat that runs',
          mode: 'pro',
          duration: '5',
          aspect_ratio: '16:9',
          sound: 'on',
          external_task_id: 'task_1-2',
        },
      });
    });

    it('says what must not be seen, where that is ordered', async () => {
      const { body } = await sent({ ...klingJob('kling-v2-6'), negativePrompt: 'rain' });
      expect(body).to.include({ negative_prompt: 'rain' });
    });

    it('says nothing about sound to a model without any', async () => {
      const { body } = await sent(klingJob('kling-v2-5-turbo', { audio: null }));
      expect(body).to.include({ mode: 'std' }).and.to.not.have.property('sound');
    });

    it('has images in a kind of its own, URLs as they are and data URIs as bare base64, without a ratio', async () => {
      const job = klingJob('kling-v2-6', { inputImages: 2, imageRole: 'first_and_last_frame' });
      const { path, body } = await sent({ ...job, inputImages: [PICTURE, PNG_DATA_URI] });
      expect(path).to.equal('/v1/videos/image2video');
      expect(body).to.include({ image: PICTURE, image_tail: PNG_BASE64 });
      expect(body).to.not.have.property('aspect_ratio');
    });

    it('remembers the kind, which is part of the path of every look', async () => {
      answer({ task_id: 't/1' });
      const job = { ...klingJob('kling-v2-6', { imageRole: 'first_frame' }), inputImages: [PICTURE] };
      const submission = await vendor.provider.submit(job);
      const handle = { id: 't/1', credential: 'first', dialect: 'legacy', kind: 'image2video' };
      expect(submission).to.deep.equal({ kind: 'accepted', handle, upstreamRequestId: 'r-1' });
      answer({ task_id: 't/1', task_status: 'processing' });
      await vendor.provider.poll?.(handle);
      expect(vendor.received.at(-1)?.path).to.equal('/v1/videos/image2video/t%2F1');
    });
  });
});

// Requests as they are kept: what was sealed is read again, whatever stands in it.
import { expect } from 'chai';
import { Secrets } from '../../../db/secrets.ts';
import { sealRequest } from '../../../db/tasks/requests.ts';

const SECRETS = new Secrets([{ id: 'k', bytes: Buffer.alloc(32, 1) }]);
const IMAGE = `data:image/png;base64,${Buffer.alloc(3_000, 0xfb).toString('base64')}`;

describe('the request of a task', () => {
  for (const image of [
    IMAGE,
    'https://example.com/a.png?b=c',
    'https://example.com/"quoted"\\',
    `${IMAGE}"`,
    `${IMAGE.slice(0, 50)}"${IMAGE.slice(50)}`,
    `${IMAGE.slice(0, 50)}\n${IMAGE.slice(50)}`,
    'data:image/"png;base64,AAAA',
    'data:image/png;base64,AA"A',
    'data:image/png;base64,',
    '\u{1F600} and U+2028 \u2028',
  ])
    it(`keeps an image such as ${JSON.stringify(image).slice(0, 60)}`, async () => {
      const body = { inputImages: [image, IMAGE], inputVideos: ['"'], negativePrompt: null };
      const request = { ...body, isConversation: false, prompt: 'a "cat"' };
      const sealed = await sealRequest(SECRETS, 'task_1', request);
      const kept = { secretKeyId: sealed.secretKeyId, bytes: sealed.body };
      const read: unknown = JSON.parse(SECRETS.decrypt('request', 'task_1:body', kept));
      expect(read).to.deep.equal({ ...body, isConversation: false });
    });
});

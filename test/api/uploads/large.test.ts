// Uploads of 100 MB: streamed into the storage, while other requests are answered.
import { expect } from 'chai';
import { startGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startApiProcess } from '../../support/servers/process.ts';
import { BOUNDARY, FORM_TYPE, makeVideo, UPLOADS, writePart, type Part } from '../../support/uploads.ts';

const END = Buffer.from(`--${BOUNDARY}--\r\n`);
const video: Part = { filename: 'a.mp4', content: makeVideo() };

describe('an upload of 100 MB', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());

  it('passes through without being kept in memory and without keeping others waiting', async () => {
    const api = await startApiProcess(gateway.env);
    const owner = await gateway.createUser(0);
    try {
      const chunk = Buffer.alloc(1024 * 1024, 7);
      async function* form(): AsyncGenerator<Buffer> {
        yield writePart({ ...video, content: makeVideo(50) }).subarray(0, -2);
        for (let sent = 0; sent < 100; sent += 1) yield chunk;
        yield Buffer.concat([Buffer.from('\r\n'), END]);
      }
      const waits: number[] = [];
      let isDone = false;
      const ask = async (): Promise<void> => {
        while (!isDone) {
          const askedAt = performance.now();
          await fetch(`${api.internalUrl}/livez`).then((answer) => answer.text());
          waits.push(performance.now() - askedAt);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      };
      const asking = ask();
      const init: RequestInit = {
        method: 'POST',
        body: ReadableStream.from(form()),
        duplex: 'half',
        headers: { authorization: `Bearer ${owner.apiKey}`, 'content-type': FORM_TYPE },
      };
      const answer = await fetch(`${api.baseUrl}${UPLOADS}`, init);
      isDone = true;
      await asking;
      expect(answer.status).to.equal(201);
      const { data } = (await answer.json()) as { data: { bytes: number } };
      expect(data.bytes).to.equal(50 + 100 * 1024 * 1024);
      waits.sort((one, other) => one - other);
      expect(waits[Math.floor(waits.length * 0.9)], JSON.stringify(waits)).to.be.below(100);
    } finally {
      await api.process.stop();
    }
  });
});

// OpenAI’s images: which pictures of an answer count, and where reading stops.
import { expect } from 'chai';
import { createOpenaiImages } from '../../../providers/openai/images.ts';
import type { Submission } from '../../../providers/provider.ts';
import { describeVendor } from '../describe-vendor.ts';
import { failureOf, imageJob, PNG, sendEndlessly, sendJson, verdictOf } from '../stand-in.ts';
import { deliver, ITEM } from './images-support.ts';

describeVendor('OpenAI images', { create: createOpenaiImages, path: '/v1' }, (vendor) => {
  async function finished(job = imageJob()): Promise<Extract<Submission, { kind: 'finished' }>> {
    const submission = await vendor.provider.submit(job);
    if (submission.kind !== 'finished') throw new Error(`submission is ${submission.kind}`);
    return submission;
  }

  describe('answering', () => {
    it('delivers the pictures as bytes, and counts them', async () => {
      deliver(vendor, ITEM, ITEM);
      const { results, evidence, upstreamRequestId } = await finished(imageJob({ images: 2 }));
      expect(results).to.deep.equal([
        { kind: 'inline', bytes: PNG },
        { kind: 'inline', bytes: PNG },
      ]);
      expect(evidence).to.deep.equal({ images: 2 });
      expect(upstreamRequestId).to.equal('req_1');
    });
  });

  it('knows its own origin', () => {
    expect(vendor.provider.trustsOrigin(new URL(`${vendor.url}/files/1`))).to.equal(true);
    expect(vendor.provider.trustsOrigin(new URL('http://127.0.0.1:1/'))).to.equal(false);
  });

  describe('when fewer, more or other things come', () => {
    it('pays only for what arrived', async () => {
      deliver(vendor, ITEM);
      expect((await finished(imageJob({ images: 4 }))).evidence).to.deep.equal({ images: 1 });
    });

    it('keeps no more than was ordered', async () => {
      deliver(vendor, ITEM, ITEM, ITEM);
      const { results, evidence } = await finished(imageJob({ images: 2 }));
      expect([results.length, evidence.images]).to.deep.equal([2, 2]);
    });

    it('does not count items that are no pictures', async () => {
      const half = PNG.subarray(0, 40).toString('base64');
      const html = Buffer.from('<html>').toString('base64');
      deliver(
        vendor,
        {},
        null,
        'x',
        { b64_json: 7 },
        { b64_json: '' },
        { b64_json: '***' },
        { b64_json: half },
        { b64_json: html },
        ITEM,
      );
      expect((await finished(imageJob({ images: 10 }))).evidence).to.deep.equal({ images: 1 });
    });

    for (const json of [
      {},
      [],
      null,
      'x',
      { data: null },
      { data: [] },
      { data: [{ url: 'https://x.example/a.png' }] },
    ]) {
      it(`has no answer in ${JSON.stringify(json)}`, async () => {
        vendor.play = (res) => sendJson(res, 200, json, { 'x-request-id': 'req_2' });
        const failure = await failureOf(vendor.provider.submit(imageJob()));
        expect(verdictOf(failure)).to.equal('invalid_response, refused');
        expect(failure.upstreamRequestId).to.equal('req_2');
      });
    }
  });

  it('stops reading an answer that grows beyond what the pictures can be', async () => {
    const closed = new Promise((resolve) => {
      vendor.play = (res) => {
        res.once('close', resolve);
        sendEndlessly(res.writeHead(200));
      };
    });
    expect(verdictOf(await failureOf(vendor.provider.submit(imageJob())))).to.equal(
      'invalid_response, unknown',
    );
    await closed;
  });
});

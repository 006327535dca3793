// The AI SDK's providers of video models find in the sandbox what they expect of each vendor.

import { experimental_generateVideo as generateVideo } from 'ai';
import { expect } from 'chai';
import sharp from 'sharp';
import { newPrompt, readJobs, useSandbox } from '../support.ts';
import { CLIENTS, type Order } from './ai-sdk-orders.ts';

const POLL = { intervalMs: 10, timeoutMs: 5_000 };
/** The same in the words of a provider that polls by itself. */
const OWN_POLL = { pollIntervalMs: 10, pollTimeoutMs: 5_000 };

for (const { title: client, leavesOut, hasOwnPoll = false, modelAt, orders } of CLIENTS)
  describe(`sandbox: ${client}`, () => {
    const sandbox = useSandbox();
    let image: Uint8Array;

    before(async () => {
      const create = { width: 640, height: 480, channels: 3, background: 'red' } as const;
      image = await sharp({ create }).png().toBuffer();
    });

    async function generate({ model, options, images }: Order, text: string) {
      const frames = (['first_frame', 'last_frame'] as const).map((frameType) => ({ frameType, image }));
      return generateVideo({
        model: modelAt(sandbox().url, model),
        prompt: images === 'first_frame' ? { image, text } : text,
        ...(images === 'frames' && { frameImages: frames }),
        ...(images === 'references' && { inputReferences: [image, image] }),
        ...(hasOwnPoll
          ? { providerOptions: { [client.replace('@ai-sdk/', '')]: OWN_POLL } }
          : { poll: POLL }),
        maxRetries: 0,
        download: async ({ url }) => {
          const file = await fetch(url);
          expect(file.status).to.equal(200);
          return { data: new Uint8Array(await file.arrayBuffer()), mediaType: 'video/mp4' };
        },
        ...options,
      });
    }

    for (const order of orders) {
      it(`makes a video ${order.title}`, async () => {
        const { prompt, marker } = newPrompt('seconds=0');
        const { videos, warnings } = await generate(order, prompt);
        expect(warnings.filter(({ type }) => type !== 'other')).to.deep.equal([]);
        expect(Buffer.from(videos[0]?.uint8Array ?? []).toString('latin1', 4, 8)).to.equal('ftyp');
        const [job] = await readJobs(sandbox(), marker);
        expect(job?.['ordered']).to.include(order.ordered);
      });
    }

    const [first] = orders;
    if (leavesOut && first)
      it(`leaves out the ${leavesOut} of a lone image, which is refused here as newer models do it`, async () => {
        const fromImage: Order = { ...first, images: 'first_frame' };
        const error: unknown = await generate(fromImage, newPrompt('seconds=0').prompt).catch(
          (reason: unknown) => reason,
        );
        expect(String(error)).to.include(`The ${leavesOut} must be one of`);
      });

    for (const [why, directives] of [
      ['the moderation of its output', 'seconds=0 outcome=moderated'],
      ['a fault of the vendor', 'seconds=0 outcome=fail reason=internal'],
      ['too many requests', 'submit=429'],
    ] as const)
      it(`tells of ${why}`, async () => {
        if (!first) throw new Error('there is no order');
        const error: unknown = await generate(first, newPrompt(directives).prompt).then(
          () => null,
          (reason: unknown) => reason,
        );
        expect(error).to.be.instanceOf(Error);
        expect(String(error), 'not that it did not understand').not.to.match(/Invalid JSON|Type validation/);
      });
  });

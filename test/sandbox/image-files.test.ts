// Images inside an order are held against what the vendor takes, and each limit of the catalogue is one of
// the sandbox's as well: an image just beyond it is refused by both.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import sharp from 'sharp';
import type { ImageLimits } from '../../domain/catalog/catalog.ts';
import { parseCatalog } from '../../domain/catalog/parse-catalog.ts';
import { explainImageLimits } from '../../domain/files/image-limits.ts';
import { UpstreamFailure } from '../../providers/provider.ts';
import { startSandbox, type Sandbox } from '../../sandbox/server.ts';
import { declaredOrders } from '../providers/catalogue/declared-orders.ts';
import { jobOf, providerOf } from '../providers/catalogue/at-the-sandbox.ts';

const models = [...parseCatalog(JSON.parse(readFileSync('catalog.json', 'utf8'))).models.values()];
type Shape = [width: number, height: number, format: 'png' | 'jpeg' | 'webp'];

describe('input images that a vendor refuses', () => {
  let sandbox: Sandbox;
  before(async () => (sandbox = await startSandbox({ port: 0, host: '127.0.0.1' })));
  after(() => sandbox.close());

  for (const model of models.filter(({ limits }) => limits.inputImageLimits))
    it(`of ${model.id} are refused by the sandbox and by the gateway alike`, async () => {
      const limits = model.limits.inputImageLimits ?? {};
      const declared = [...declaredOrders(model)].find(({ order }) => order.inputImages > 0);
      if (!declared) throw new Error('no order has images');
      for (const shape of beyond(limits)) {
        const bytes = await encode(shape);
        const [width, height, format] = shape;
        const facts = { type: `image/${format}`, bytes: bytes.length, width, height } as const;
        expect(explainImageLimits(facts, limits, model.id), String(shape)).to.be.a('string');
        const image = `data:image/${format};base64,${bytes.toString('base64')}`;
        const job = {
          ...(await jobOf(model, declared)),
          inputImages: declared.input.inputImages.map(() => image),
        };
        const failure: unknown = await providerOf(model, sandbox.url)
          .submit(job)
          .catch((error: unknown) => error);
        if (!(failure instanceof UpstreamFailure)) throw new Error(`${String(shape)} was taken`);
        expect([failure.errorClass, failure.fate], String(shape)).to.deep.equal(['invalid', 'refused']);
      }
    });
});

/** Shapes of images that are each just beyond one limit. */
function beyond({ formats, sidePixelsMin, sidePixelsMax, sidesRatioMax }: ImageLimits): Shape[] {
  const side = sidePixelsMin ?? 100;
  const shapes: Shape[] = [];
  if (formats && !formats.includes('webp')) shapes.push([side * 2, side * 2, 'webp']);
  if (sidePixelsMin) shapes.push([side - 1, side, 'jpeg']);
  if (sidePixelsMax) shapes.push([sidePixelsMax + 1, Math.ceil(sidePixelsMax / 2), 'jpeg']);
  if (sidesRatioMax) shapes.push([Math.ceil(side * sidesRatioMax) + 1, side, 'png']);
  return shapes;
}

function encode([width, height, format]: Shape): Promise<Buffer> {
  const picture = sharp({ create: { width, height, channels: 3, background: 'orange' } });
  return picture.toFormat(format).toBuffer();
}

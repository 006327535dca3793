// The catalogue: every problem is named with its path, before anything starts.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseCatalog } from '../../../domain/catalog/parse-catalog.ts';

const read = (): { models: Record<string, unknown>[] } => JSON.parse(readFileSync('catalog.json', 'utf8'));

describe('the model catalogue', () => {
  it('is valid as delivered, with exactly one model for the images endpoint', () => {
    const { models } = parseCatalog(read());
    expect([...models.values()].filter((model) => model.imagesEndpoint)).to.have.length(1);
  });

  it('names all problems at once', () => {
    const catalog = read();
    Object.assign(catalog.models[0] ?? {}, {
      kind: 'sound',
      billingMode: 'per_wish',
      price: [{ item: 'x', meter: 'images', credits: -1 }],
    });
    Object.assign(catalog.models[1] ?? {}, { id: '', limits: {} });
    expect(() => parseCatalog(catalog))
      .to.throw()
      .with.property('message')
      .that.includes('catalog.models[0].kind')
      .and.includes('catalog.models[0].billingMode')
      .and.includes('catalog.models[0].price[0].credits')
      .and.includes('catalog.models[1].id')
      .and.includes('catalog.models[1].limits.promptCharactersMax');
  });

  it('charges a long prompt of a text model twice for what goes in and half as much again for what comes out', () => {
    const texts = [...parseCatalog(read()).models.values()].filter(({ kind }) => kind === 'text');
    expect(texts).not.to.be.empty;
    for (const { id, price } of texts) {
      const long = price.filter(({ when }) => when.promptTokensAbove === 272_000);
      expect(price.length, id).to.equal(2 * long.length);
      for (const { meter, credits } of long) {
        const usual = price.find((line) => line.meter === meter && line.when.promptTokensMax === 272_000);
        expect(credits * 2n, `${id} ${meter}`).to.equal(
          (usual?.credits ?? 0n) * (meter === 'output_tokens' ? 3n : 4n),
        );
      }
    }
  });

  it('refuses work without a price; tokens of a prompt are work, input images alone are not', () => {
    const catalog = read();
    const price = (meter: string): object => ({ price: [{ item: 'x', meter, credits: 1 }] });
    const luna = catalog.models.find(({ id }) => id === 'gpt-6-luna') ?? {};
    Object.assign(luna, price('input_tokens'));
    expect(() => parseCatalog(catalog)).not.to.throw();
    Object.assign(luna, price('input_images'));
    expect(() => parseCatalog(catalog)).to.throw('gpt-6-luna has no price for its work');
  });

  it('refuses an id that stands twice', () => {
    const catalog = read();
    catalog.models.push({ ...catalog.models[0] });
    expect(() => parseCatalog(catalog)).to.throw('an id stands twice');
  });

  for (const value of [null, [], 'text', 3, {}])
    it(`refuses ${JSON.stringify(value)}`, () => expect(() => parseCatalog(value)).to.throw('not valid'));
});

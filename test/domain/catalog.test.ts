// The catalogue: every problem is named with its path, before anything starts.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseCatalog } from '../../domain/catalog.ts';

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

  it('refuses an id that stands twice', () => {
    const catalog = read();
    catalog.models.push({ ...catalog.models[0] });
    expect(() => parseCatalog(catalog)).to.throw('an id stands twice');
  });

  for (const value of [null, [], 'text', 3, {}])
    it(`refuses ${JSON.stringify(value)}`, () => expect(() => parseCatalog(value)).to.throw('not valid'));
});

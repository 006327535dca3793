// An overlay on the catalogue: models added, changed and removed, and every problem named with its path.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseOverlaidCatalog } from '../../../domain/catalog/overlay.ts';

const catalogJson: { models: { id: string }[] } = JSON.parse(readFileSync('catalog.json', 'utf8'));
const overlaid = (overlay: object) => parseOverlaidCatalog(catalogJson, overlay);
const OWN = { id: 'own', family: 'house', free: true };

describe('an overlay', () => {
  it('adds a text model that says little', () => {
    const { catalog, ownIds } = overlaid({ models: [OWN] });
    expect([...ownIds]).to.deep.equal(['own']);
    expect(catalog.models.size).to.equal(catalogJson.models.length + 1);
    expect(catalog.models.get('own')).to.deep.include({
      ...{ kind: 'text', adapter: 'openai-chat', upstreamModel: 'own', billingMode: 'per_token', price: [] },
      created: Date.parse(catalog.effectiveFrom) / 1000,
      defaults: { outputTokens: 4096 },
    });
  });

  it('changes a model member by member, and leaves the others as they are', () => {
    const { catalog } = overlaid({ models: [{ id: 'gpt-6-luna', limits: { outputTokensMax: 9 } }] });
    const plain = overlaid({}).catalog;
    const { limits, price } = plain.models.get('gpt-6-luna') ?? {};
    expect(catalog.models.get('gpt-6-luna')).to.deep.include({
      limits: { ...limits, outputTokensMax: 9 },
      price,
    });
    expect(catalog.models.get('gpt-6-sol')).to.deep.equal(plain.models.get('gpt-6-sol'));
  });

  it('removes models', () => {
    const { catalog } = overlaid({ remove: ['gpt-6-luna', 'sora-2'] });
    expect([...catalog.models.keys()]).to.not.include.members(['gpt-6-luna', 'sora-2']);
    expect(catalog.models.size).to.equal(catalogJson.models.length - 2);
  });

  const upstream = { family: 'house', upstreamModel: 'x' };
  const wrong: [title: string, overlay: object, path: string][] = [
    ['an unknown member', { modles: [] }, 'overlay: '],
    ['an unknown member of a model', { models: [{ ...OWN, uptreams: [] }] }, 'overlay.models[0] (own)'],
    ['an unknown member of an upstream', { models: [{ ...OWN, upstreams: [{ ...upstream, limitfield: 'x' }] }] },
      'overlay.models[0].upstreams[0] (own)'],
    ['an adapter that does not exist', { models: [OWN, { ...OWN, id: 'b', adapter: 'anthropic' }] },
      'overlay.models[1].adapter (b): there is no adapter "anthropic"'],
    ['an address that is none', { models: [{ ...OWN, upstreams: [{ ...upstream, baseUrl: 'ftp://x' }] }] },
      'overlay.models[0].upstreams[0].baseUrl (own)'],
    ['an authentication that is none', { models: [{ ...OWN, upstreams: [{ ...upstream, auth: 'basic' }] }] },
      'overlay.models[0].upstreams[0].auth (own): expected "bearer", "none"'],
    ['a header with another use', { models: [{ ...OWN, upstreams: [{ ...upstream, auth: { header: 'Host' } }] }] },
      'overlay.models[0].upstreams[0].auth'],
    ['a new model without a family', { models: [{ id: 'b', free: true }] }, 'overlay.models[0].family (b)'],
    ['a new model without a price', { models: [{ id: 'b', family: 'house' }] }, 'overlay.models[0].price (b)'],
    ['a model twice', { models: [OWN, OWN] }, 'overlay.models[1] (own): this id stands twice'],
    ['a model that is not there to be removed', { remove: ['x'] }, 'overlay.remove[0]: there is no model x'],
    ['a model that is changed and removed', { remove: ['gpt-6-luna'], models: [{ ...OWN, id: 'gpt-6-luna' }] },
      'overlay.models[0] (gpt-6-luna): this model is removed'],
  ]; // prettier-ignore
  for (const [title, overlay, path] of wrong)
    it(`is refused with ${title}`, () => expect(() => overlaid(overlay)).to.throw(path));

  it('lets work cost nothing only where the model says so', () => {
    const line = { item: 'tokens', meter: 'output_tokens', credits: 0 };
    expect(() => overlaid({ models: [{ ...OWN, free: false, price: [line] }] })).to.throw('own has no price');
    expect(() => overlaid({ models: [{ ...OWN, price: [line] }] })).not.to.throw();
  });
});

// The models that are offered: those that a configured key serves, and why the others are not.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { offerModels } from '../../config/catalog.ts';
import { readFamilies } from '../../config/families.ts';
import { parseOverlaidCatalog } from '../../domain/catalog/overlay.ts';
import { parseCatalog } from '../../domain/catalog/parse-catalog.ts';

const catalogJson: unknown = JSON.parse(readFileSync('catalog.json', 'utf8'));
const catalog = parseCatalog(catalogJson);

function offerWith(env: Record<string, string>) {
  const { offered, withheld } = offerModels(catalog, readFamilies(env, [], []), 0);
  return { ids: [...offered.models.keys()], withheld };
}

describe('the offered models', () => {
  it('are those whose family has a key', () => {
    const { ids, withheld } = offerWith({ VIDU_API_KEY: 'k' });
    expect(ids).to.not.be.empty;
    expect(ids.every((id) => id.startsWith('vidu'))).to.equal(true);
    expect(withheld).to.deep.equal([]);
  });

  it('leave out what its vendor has closed, and say so', () => {
    const sora = offerWith({ SORA_API_KEY: 'k' });
    expect(sora.ids).to.deep.equal([]);
    expect(sora.withheld.map(({ id }) => id)).to.deep.equal(['sora-2', 'sora-2-pro']);
    expect(sora.withheld[0]?.reason).to.contain('2026-09-24');
    const veo = offerWith({ VEO_API_KEY: 'k', VEO_BASE_URL: 'https://europe-aiplatform.googleapis.com/v1' });
    expect(veo.ids).to.deep.equal(['veo-3.1', 'veo-3.1-fast', 'veo-3.1-lite']);
  });

  it('leave out Veo at the Gemini API, where Google’s own client makes no videos any more, and say so', () => {
    for (const address of [{}, { VEO_BASE_URL: 'https://generativelanguage.googleapis.com/v1' }]) {
      const { ids, withheld } = offerWith({ VEO_API_KEY: 'k', ...address });
      expect(ids).to.deep.equal([]);
      expect(withheld).to.have.length(6);
      expect(withheld.find(({ id }) => id === 'veo-3.1')?.reason).to.contain('set VEO_BASE_URL');
    }
  });

  it('have what its vendor has closed where another service is set', () => {
    const { ids, withheld } = offerWith({ SORA_API_KEY: 'k', SORA_BASE_URL: 'https://videos.example/v1' });
    expect(ids).to.deep.equal(['sora-2', 'sora-2-pro']);
    expect(withheld).to.deep.equal([]);
  });

  it('can be silent at Vertex alone, where Veo is concerned', () => {
    // Offered at the Gemini API as well, as by an operator's own catalogue.
    const everywhere = parseOverlaidCatalog(catalogJson, { models: [{ id: 'veo-3.1', vertexOnly: false }] });
    const soundAt = (baseUrl: string) => {
      const families = readFamilies({ VEO_API_KEY: 'k', VEO_BASE_URL: baseUrl }, [], []);
      return offerModels(everywhere.catalog, families, 0).offered.models.get('veo-3.1')?.limits.audio;
    };
    const vertex = 'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1';
    expect(soundAt(vertex)).to.deep.equal([true, false]);
    expect(soundAt('https://generativelanguage.googleapis.com/v1beta')).to.deep.equal([true]);
    expect(soundAt('https://videos.example/v1beta')).to.deep.equal([true]);
  });

  it('leave out Kling since 3.0 where every key is a pair of access key and secret key', () => {
    const pairs = offerWith({ KLING_API_KEY: 'AK1:SK1,AK2:SK2' });
    expect(pairs.ids).to.deep.equal(['kling-v2-5-turbo', 'kling-v2-6']);
    expect(pairs.withheld.map(({ id }) => id)).to.deep.equal([
      'kling-3.0',
      'kling-3.0-turbo',
      'kling-3.0-omni',
    ]);
    expect(offerWith({ KLING_API_KEY: 'AK1:SK1,plain' }).withheld).to.deep.equal([]);
  });
});

// docs/models.md is made from the catalogue, and this test notices when it has to be made again.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { composeModelsPage, MODELS_PAGE } from '../../dev/models-page.ts';
import { parseCatalog } from '../../domain/catalog/parse-catalog.ts';

describe('docs/models.md', () => {
  it('is what `npm run models` makes of the catalogue', () => {
    expect(readFileSync(MODELS_PAGE, 'utf8')).to.equal(composeModelsPage());
  });

  it('has every model, the date of the prices and every figure that is unconfirmed', () => {
    const page = readFileSync(MODELS_PAGE, 'utf8');
    const { models, effectiveFrom } = parseCatalog(JSON.parse(readFileSync('catalog.json', 'utf8')));
    expect(page).to.contain(effectiveFrom);
    for (const { id, unconfirmed } of models.values())
      for (const text of [`\`${id}\``, ...unconfirmed]) expect(page).to.contain(text);
  });
});

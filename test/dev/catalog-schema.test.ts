// catalog.schema.json describes the catalogue to editors, in the words of the declaration that checks it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import {
  CATALOG_SCHEMA,
  composeCatalogSchema,
  composeOverlaySchema,
  OVERLAY_SCHEMA,
} from '../../dev/catalog-schema.ts';

const readCatalog = (): { $schema: string; models: Record<string, unknown>[] } =>
  JSON.parse(readFileSync('catalog.json', 'utf8'));
const accepts = new Ajv2020({ strictTypes: false, formats: { uri: true } }).compile(
  JSON.parse(readFileSync(CATALOG_SCHEMA, 'utf8')),
);

describe('catalog.schema.json', () => {
  it('is what `npm run models` makes of the declaration', () => {
    expect(readFileSync(CATALOG_SCHEMA, 'utf8')).to.equal(composeCatalogSchema());
  });

  it('is named by the catalogue, and accepts it', () => {
    const catalog = readCatalog();
    expect(catalog.$schema).to.equal(`./${CATALOG_SCHEMA}`);
    expect(accepts(catalog), JSON.stringify(accepts.errors)).to.equal(true);
  });

  for (const [path, change] of [
    ['a kind of task that does not exist', { kind: 'sound' }],
    ['a limit that is a text', { limits: { promptCharactersMax: 'many' } }],
    ['a price without an amount', { price: [{ item: 'x', meter: 'images' }] }],
  ] as const)
    it(`refuses ${path}`, () => {
      const catalog = readCatalog();
      Object.assign(catalog.models[0] ?? {}, change);
      expect(accepts(catalog)).to.equal(false);
    });
});

describe('catalog-overlay.schema.json', () => {
  const EXAMPLES = 'examples/catalog';
  const acceptsOverlay = new Ajv2020({ strictTypes: false, formats: { uri: true } }).compile(
    JSON.parse(readFileSync(OVERLAY_SCHEMA, 'utf8')),
  );

  it('is what `npm run models -- schema` prints', () => {
    expect(readFileSync(OVERLAY_SCHEMA, 'utf8')).to.equal(composeOverlaySchema());
  });

  for (const name of readdirSync(EXAMPLES))
    it(`is named by ${EXAMPLES}/${name}, and accepts it`, () => {
      const overlay = JSON.parse(readFileSync(join(EXAMPLES, name), 'utf8'));
      expect(overlay.$schema).to.equal(`../../${OVERLAY_SCHEMA}`);
      expect(acceptsOverlay(overlay), JSON.stringify(acceptsOverlay.errors)).to.equal(true);
    });

  it('refuses a member that no model has', () => {
    expect(acceptsOverlay({ models: [{ id: 'own', uptreams: [] }] })).to.equal(false);
  });
});

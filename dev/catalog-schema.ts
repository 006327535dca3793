// Writes catalog.schema.json from the declaration that checks catalog.json, as a part of `npm run models`.
import { z } from 'zod';
import { CATALOG_FILE } from '../domain/catalog/catalog.ts';

export const CATALOG_SCHEMA = 'catalog.schema.json';

export function composeCatalogSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(CATALOG_FILE, { io: 'input' }), null, 2)}\n`;
}

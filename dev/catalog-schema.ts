// Writes the JSON Schemas of catalogue and overlay from the declarations that check them, for `npm run
// models`.
import { z } from 'zod';
import { CATALOG_FILE } from '../domain/catalog/catalog.ts';
import { OVERLAY_FILE } from '../domain/catalog/overlay.ts';

export const CATALOG_SCHEMA = 'catalog.schema.json';
export const OVERLAY_SCHEMA = 'catalog-overlay.schema.json';

export function composeCatalogSchema(): string {
  return compose(CATALOG_FILE);
}

export function composeOverlaySchema(): string {
  return compose(OVERLAY_FILE);
}

function compose(file: z.ZodType): string {
  return `${JSON.stringify(z.toJSONSchema(file, { io: 'input' }), null, 2)}\n`;
}

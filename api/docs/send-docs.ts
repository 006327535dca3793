// GET /docs: the OpenAPI document as a page. Everything it needs is a file of ours, and nothing else is served here.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RequestHandler } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { keepFile, sendKept, type KeptFile } from './kept-file.ts';

export const DOCS_ROUTE = '/docs';
export const DOCS_FILE_ROUTE = '/docs/:file';

const OWN = import.meta.dirname;
const PACKAGE = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
/** The only files there are, each by its name. */
const FILES = new Map([
  ['docs.css', { folder: OWN, type: CSS }],
  ['docs.js', { folder: OWN, type: SCRIPT }],
  ['swagger-ui.css', { folder: PACKAGE, type: CSS }],
  ['swagger-ui-bundle.js', { folder: PACKAGE, type: SCRIPT }],
  ['favicon-32x32.png', { folder: PACKAGE, type: 'image/png' }],
]);
/** Nothing from elsewhere, nothing inline. The style sheet holds its icons as data URIs. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const kept = new Map<string, KeptFile>();

export const sendDocsPage: RequestHandler = (req, res) => {
  res.setHeader('content-security-policy', PAGE_POLICY);
  sendKept(req, res, read('index.html', { folder: OWN, type: HTML }));
};

export const sendDocsFile: RequestHandler = (req, res) => {
  const name = String(req.params['file']);
  const place = FILES.get(name);
  if (!place) throw new GatewayError('file_not_found');
  sendKept(req, res, read(name, place));
};

/** From the disk when somebody first asks for it: most processes are never asked. */
function read(name: string, { folder, type }: { folder: string; type: string }): KeptFile {
  const file = kept.get(name) ?? keepFile(type, readFileSync(join(folder, name)));
  kept.set(name, file);
  return file;
}

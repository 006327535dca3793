// GET /docs: serves the OpenAPI document as a page, with all of its files from this process.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RequestHandler } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { createStaticFile, sendStaticFile, type StaticFile } from './static-file.ts';

export const DOCS_ROUTE = '/docs';
export const DOCS_FILE_ROUTE = '/docs/:file';

const OWN_FOLDER = import.meta.dirname;
const SWAGGER_FOLDER = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
/** The files that are served, by name; any other name answers 404. */
const FILES = new Map([
  ['docs.css', { folder: OWN_FOLDER, type: CSS }],
  ['docs.js', { folder: OWN_FOLDER, type: SCRIPT }],
  ['swagger-ui.css', { folder: SWAGGER_FOLDER, type: CSS }],
  ['swagger-ui-bundle.js', { folder: SWAGGER_FOLDER, type: SCRIPT }],
  ['favicon-32x32.png', { folder: SWAGGER_FOLDER, type: 'image/png' }],
]);
/**
 * The page's policy: nothing from other origins and nothing inline. The style sheet holds its icons as data
 * URIs.
 */
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

const loaded = new Map<string, StaticFile>();

export const sendDocsPage: RequestHandler = (req, res) => {
  res.setHeader('content-security-policy', PAGE_POLICY);
  sendStaticFile(req, res, load('index.html', { folder: OWN_FOLDER, type: HTML }));
};

export const sendDocsFile: RequestHandler = (req, res) => {
  const name = String(req.params['file']);
  const source = FILES.get(name);
  if (!source) throw new GatewayError('file_not_found');
  sendStaticFile(req, res, load(name, source));
};

/** Reads the file from disk at the first request, because most processes are never asked for it. */
function load(name: string, { folder, type }: { folder: string; type: string }): StaticFile {
  const file = loaded.get(name) ?? createStaticFile(type, readFileSync(join(folder, name)));
  loaded.set(name, file);
  return file;
}

// GET /docs: the OpenAPI document as a page. Everything it needs is a file of ours, and nothing else is served here.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RequestHandler, Response } from 'express';
import { GatewayError } from '../../domain/errors.ts';

export const DOCS_ROUTE = '/docs';
export const DOCS_FILE_ROUTE = '/docs/:file';

const OWN = import.meta.dirname;
const PACKAGE = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
/** The only files there are, each by its name. */
const FILES = new Map([
  ['docs.css', OWN],
  ['docs.js', OWN],
  ['swagger-ui.css', PACKAGE],
  ['swagger-ui-bundle.js', PACKAGE],
  ['favicon-32x32.png', PACKAGE],
]);
const MAX_AGE_MS = 3_600_000;
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

export const sendDocsPage: RequestHandler = (_req, res, next) => {
  res.setHeader('content-security-policy', PAGE_POLICY);
  send(res, join(OWN, 'index.html'), next);
};

export const sendDocsFile: RequestHandler = (req, res, next) => {
  const name = String(req.params['file']);
  const folder = FILES.get(name);
  if (folder === undefined) throw new GatewayError('file_not_found');
  send(res, join(folder, name), next);
};

function send(res: Response, path: string, next: (error: unknown) => void): void {
  res.sendFile(path, { maxAge: MAX_AGE_MS, dotfiles: 'allow' }, (error?: Error) => {
    if (error && !res.destroyed) next(error);
  });
}

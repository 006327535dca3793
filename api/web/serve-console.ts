// Serves the console: its page under every path below /console/, its files under /console/assets/.
import { createHash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { readSessionToken } from '../http/session-cookie.ts';
import type { Services } from '../services.ts';
import type { BuiltConsole } from './built-console.ts';
import { sendBuildEvents } from './build-events.ts';
import { writeFirstLinks } from './first-links.ts';

const ROOT = '/console/';
const ASSETS = '/console/assets/';
const BUILD_EVENTS = '/console/build-events';
const IMMUTABLE = 'public, max-age=31536000, immutable';
/** Cookies in which the console keeps what the page has to know before its first script runs. */
const THEME_COOKIE = /(?:^|; )svc_theme=(light|dark)(?:;|$)/;
const LANGUAGE_COOKIE = /(?:^|; )svc_language=(en|zh)(?:;|$)/;
const SCHEMES: Readonly<Record<string, string>> = { light: 'light', dark: 'dark' };

/**
 * Answers `/` and everything below `/console/`; passes other requests on. Redirects and the page refer to
 * files relatively, so that a proxy in front may add a path of its own.
 */
export function serveConsole(services: Services): RequestHandler {
  return (req, res, next) => {
    const { path } = req;
    if (path !== '/' && path !== '/console' && !path.startsWith(ROOT)) return next();
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      res.setHeader('allow', 'GET, HEAD');
      throw new GatewayError('method_not_allowed');
    }
    if (!path.startsWith(ROOT)) return redirect(res);
    if (path.startsWith(ASSETS)) return sendAsset(services.console, req, res);
    if (path === BUILD_EVENTS && !services.production) return sendBuildEvents(services, req, res);
    sendPage(services, req, res);
  };
}

function redirect(res: Response): void {
  res.setHeader('location', 'console/');
  res.status(302).end();
}

function sendAsset(console: BuiltConsole, req: Request, res: Response): void {
  const accepts = (encoding: string): boolean => req.acceptsEncodings(encoding) === encoding;
  const file = console.file(req.path.slice(ASSETS.length), accepts);
  if (!file) throw new GatewayError('file_not_found');
  res.setHeader('cache-control', IMMUTABLE);
  res.setHeader('vary', 'accept-encoding');
  res.setHeader('content-type', file.contentType);
  if (file.encoding !== null) res.setHeader('content-encoding', file.encoding);
  send(req, res, file.bytes);
}

function sendPage(services: Services, req: Request, res: Response): void {
  const manifest = services.console.manifest();
  if (manifest === null) throw new GatewayError('file_not_found', { message: 'The console is not built.' });
  const cookies = req.headers.cookie ?? '';
  const theme = THEME_COOKIE.exec(cookies)?.[1] ?? 'system';
  const language = LANGUAGE_COOKIE.exec(cookies)?.[1] ?? 'en';
  const base = baseOf(req.path);
  const hasSession = readSessionToken(cookies) !== null;
  const opened = { path: req.path.slice(ROOT.length), hasQuery: req.url.includes('?'), language, base };
  const values: Readonly<Record<string, string>> = {
    '%BASE%': base,
    '%THEME%': theme,
    '%SCHEME%': SCHEMES[theme] ?? 'light dark',
    '%LANGUAGE%': language,
    '%SESSION%': hasSession ? 'some' : 'none',
    '%FIRST%': hasSession ? writeFirstLinks(manifest, opened) : '',
  };
  const bytes = Buffer.from(manifest.page.replaceAll(/%[A-Z]+%/g, (name) => values[name] ?? name));
  res.setHeader('content-security-policy', policyOf(services.publicUrl()));
  res.setHeader('cache-control', 'no-cache');
  res.setHeader('vary', 'cookie');
  res.setHeader('etag', `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`);
  if (req.fresh) {
    res.status(304).end();
    return;
  }
  res.setHeader('content-type', 'text/html; charset=utf-8');
  send(req, res, bytes);
}

/** The way from a page to the console's root: `./` from `/console/tasks`, `../` from `/console/tasks/ID`. */
function baseOf(path: string): string {
  const depth = path.slice(ROOT.length).split('/').length - 1;
  return depth === 0 ? './' : '../'.repeat(depth);
}

/** Results come from the public address, which may be another origin than the page's. */
function policyOf(publicUrl: string): string {
  const media = `'self' blob: ${new URL(publicUrl).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    `img-src ${media}`,
    `media-src ${media}`,
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

function send(req: Request, res: Response, bytes: Buffer): void {
  res.setHeader('content-length', bytes.byteLength);
  res.end(req.method === 'HEAD' ? undefined : bytes);
}

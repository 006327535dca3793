// GET /openapi.json: serves the OpenAPI document, created at the first request and unchanged from then on.
import type { RequestHandler } from 'express';
import { createStaticFile, sendStaticFile, type StaticFile } from '../docs/static-file.ts';
import { describeApi } from './document.ts';
import type { RouteRow } from './refusals.ts';

export function sendDocument(routes: readonly RouteRow[]): RequestHandler {
  let file: StaticFile | undefined;
  return (req, res) => {
    file ??= createStaticFile(
      'application/json; charset=utf-8',
      Buffer.from(JSON.stringify(describeApi(routes))),
    );
    sendStaticFile(req, res, file);
  };
}

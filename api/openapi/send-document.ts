// GET /openapi.json: made when somebody first asks for it, the same bytes from then on.
import type { RequestHandler } from 'express';
import { keepFile, sendKept, type KeptFile } from '../docs/kept-file.ts';
import { describeApi } from './document.ts';
import type { DescribedRoute } from './refusals.ts';

export function sendDocument(routes: readonly DescribedRoute[]): RequestHandler {
  let file: KeptFile | undefined;
  return (req, res) => {
    file ??= keepFile('application/json; charset=utf-8', Buffer.from(JSON.stringify(describeApi(routes))));
    sendKept(req, res, file);
  };
}

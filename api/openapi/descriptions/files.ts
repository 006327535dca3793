// Descriptions of the routes that serve files: results, uploads, the document and its page.
import { z } from 'zod';
import { FILE_TYPES } from '../../http/send-file.ts';
import type { RouteDescription } from '../route-description.ts';
import { describeFile } from './file-answers.ts';

const tag = 'This document';
const alwaysTagged = { etag: 'always' } as const;
const unchanged = {
  304: { description: '`If-None-Match` names what would be sent.', headers: alwaysTagged },
} as const;
const requestHeaders = ['IfNoneMatch'] as const;
/** Query of signed links: strings of any form, because the signature decides whether they are valid. */
const SIGNATURE_QUERY = z.object({
  expires: z.string().optional().describe('Unix seconds.'),
  signature: z.string().optional(),
});

const media = Object.fromEntries(FILE_TYPES.map((type) => [type, 'The file’s bytes.']));
const FILE_ANSWERS = describeFile(media);
const RESULT_ANSWERS = {
  200: { ...FILE_ANSWERS[200], headers: { ...FILE_ANSWERS[200].headers, ...alwaysTagged } },
  206: { ...FILE_ANSWERS[206], headers: { ...FILE_ANSWERS[206].headers, ...alwaysTagged } },
  ...unchanged,
} as const;

export const FILE_DESCRIPTIONS = {
  'GET /results/:taskId/:attempt/:name': {
    id: 'downloadResult',
    tag: 'Results',
    summary: 'Download a result',
    description:
      'The links of completed tasks lead here. They are signed and expire; reading the task renews them.',
    query: SIGNATURE_QUERY,
    requestHeaders: ['Range', 'IfRange', 'IfNoneMatch'],
    responses: RESULT_ANSWERS,
    refusals: ['file_not_found', 'range_not_satisfiable', 'storage_unavailable'],
  },
  'GET /uploads/:name': {
    id: 'downloadUpload',
    tag: 'Uploads',
    summary: 'Download an upload',
    description: 'The links of uploads lead here. They are signed and end with the upload.',
    query: SIGNATURE_QUERY,
    requestHeaders: ['Range'],
    responses: FILE_ANSWERS,
    refusals: ['file_not_found', 'range_not_satisfiable', 'storage_unavailable'],
  },
  'GET /openapi.json': {
    id: 'readOpenApi',
    tag,
    summary: 'This description as OpenAPI 3.1',
    requestHeaders,
    responses: {
      200: {
        description: 'The document.',
        shape: z.looseObject({ openapi: z.string() }),
        headers: alwaysTagged,
      },
      ...unchanged,
    },
  },
  'GET /docs': {
    id: 'readDocs',
    tag,
    summary: 'This description as a page',
    requestHeaders,
    responses: {
      200: { description: 'The page.', media: { 'text/html': 'HTML.' }, headers: alwaysTagged },
      ...unchanged,
    },
  },
  'GET /docs/:file': {
    id: 'readDocsFile',
    tag,
    summary: 'A file of that page',
    requestHeaders,
    responses: {
      200: {
        description: 'The file.',
        media: { 'text/javascript': 'A script.', 'text/css': 'A style sheet.', 'image/png': 'An icon.' },
        headers: alwaysTagged,
      },
      ...unchanged,
    },
    refusals: ['file_not_found'],
  },
} as const satisfies Readonly<Record<string, RouteDescription>>;

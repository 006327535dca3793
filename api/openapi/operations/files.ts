// What is told about files that are served to everybody: results under signed links, and this document.
import { z } from 'zod';
import { RESULT_TYPES } from '../../results.ts';
import type { Operation } from '../operation.ts';

const tag = 'This document';
/** Checked by the signature, whatever they look like. */
const SIGNATURE_QUERY = z.object({
  expires: z.string().optional().describe('Unix seconds.'),
  signature: z.string().optional(),
});

export const FILE_OPERATIONS = {
  'GET /results/:taskId/:attempt/:name': {
    id: 'downloadResult',
    tag: 'Results',
    summary: 'Download a result',
    description:
      'The links of completed tasks lead here. They are signed and expire; reading the task renews them.',
    query: SIGNATURE_QUERY,
    answers: {
      200: {
        description: 'The file.',
        media: Object.fromEntries(RESULT_TYPES.map((type) => [type, 'The file’s bytes.'])),
        headers: { 'content-disposition': 'always' },
      },
    },
    refusals: ['file_not_found', 'storage_unavailable'],
  },
  'GET /openapi.json': {
    id: 'readOpenApi',
    tag,
    summary: 'This description as OpenAPI 3.1',
    answers: { 200: { description: 'The document.', shape: z.looseObject({ openapi: z.string() }) } },
  },
  'GET /docs': {
    id: 'readDocs',
    tag,
    summary: 'This description as a page',
    answers: { 200: { description: 'The page.', media: { 'text/html': 'HTML.' } } },
  },
  'GET /docs/:file': {
    id: 'readDocsFile',
    tag,
    summary: 'A file of that page',
    answers: {
      200: {
        description: 'The file.',
        media: { 'text/javascript': 'A script.', 'text/css': 'A style sheet.', 'image/png': 'An icon.' },
      },
    },
    refusals: ['file_not_found'],
  },
} as const satisfies Readonly<Record<string, Operation>>;

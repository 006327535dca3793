// The shape of the JSON body of every error.
import { z } from 'zod';
import { ERRORS, type ErrorCode, type ErrorType } from '../../domain/errors.ts';
import { credits } from './basics.ts';

const types = new Set<ErrorType>(Object.values(ERRORS).map(({ type }) => type));

export const ERROR = z
  .strictObject({
    error: z.strictObject({
      message: z.string().describe('For people. May become more precise; do not compare it.'),
      type: z.enum([...types]).describe('The kind of error; clients group by it.'),
      param: z
        .string()
        .nullable()
        .describe('Path of the offending field, such as `metadata.resolution`, or null.'),
      code: z.enum(Object.keys(ERRORS) as ErrorCode[]).describe('For programs. Does not change.'),
      request_id: z.string().describe('The same as the header x-request-id. Quote it when you ask for help.'),
      required: credits.optional().describe('With `insufficient_credits`: what the request needs.'),
      task_id: z.string().optional().describe('Where a task failed while its creation waited for it.'),
      available: credits.optional().describe('With `insufficient_credits`: what the account has.'),
    }),
  })
  .meta({ id: 'Error', description: 'Every error, on every route.' });

// Of a field of the wrong type or length, the message says what it must be, in words of ours.
import { expect } from 'chai';
import { z } from 'zod';
import { readBody } from '../../../api/http/request-fields.ts';

const BODY = z.object({
  text: z.string().optional(),
  count: z.number().optional(),
  whole: z.int().optional(),
  flag: z.boolean().optional(),
  list: z.array(z.string()).optional(),
  inside: z.object({}).optional(),
  names: z.record(z.string(), z.string()).optional(),
  own: z.string('must be a colour').optional(),
  short: z.string().min(2).max(3).optional(),
  few: z.array(z.string()).min(1).max(2).optional(),
  ownLength: z.string().min(1, 'must not be empty').optional(),
});

describe('a field of the wrong type or length', () => {
  const rows: [body: object, message: string][] = [
    [{ text: 5 }, 'text: must be a string.'],
    [{ count: '5' }, 'count: must be a number.'],
    [{ whole: 1.5 }, 'whole: must be a whole number.'],
    [{ flag: 'yes' }, 'flag: must be true or false.'],
    [{ list: 'a' }, 'list: must be an array.'],
    [{ list: ['a', null] }, 'list[1]: must be a string.'],
    [{ inside: [] }, 'inside: must be an object.'],
    [{ names: 1 }, 'names: must be an object.'],
    [{ own: 1 }, 'own: must be a colour.'],
    [{ short: 'abcd' }, 'short: must have at most 3 characters.'],
    [{ short: 'a' }, 'short: must have at least 2 characters.'],
    [{ few: [] }, 'few: must not be empty.'],
    [{ few: ['a', 'b', 'c'] }, 'few: must have at most 2 entries.'],
    [{ ownLength: '' }, 'ownLength: must not be empty.'],
  ];
  for (const [body, message] of rows)
    it(`is named with what it must be: ${message}`, () => {
      expect(() => readBody(BODY, body))
        .to.throw(message)
        .with.property('code', 'invalid_value');
    });
});

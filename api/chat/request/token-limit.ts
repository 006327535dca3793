// The limit of an answer, as a field of a request.
import { z } from 'zod';

const TOKENS_RULE = 'must be a whole number, 1 or more';
/** Schema of a number of tokens. */
export const TOKENS = z.int(TOKENS_RULE).min(1, TOKENS_RULE);

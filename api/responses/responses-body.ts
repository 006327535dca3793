// The schema of a request of OpenAI's Responses API.
import { z } from 'zod';
import { TOKENS } from '../chat/request/token-limit.ts';

const ITEMS_MAX = 5_000;
const object = z.looseObject({});

/** Schema of the body. Further fields of OpenAI's API are accepted. */
export const RESPONSES_BODY = z.looseObject({
  model: z.string().min(1, 'must not be empty').max(200),
  input: z
    .union(
      [z.string().min(1), z.array(object).min(1).max(ITEMS_MAX)],
      `must be a text, or a list of 1 to ${ITEMS_MAX} items`,
    )
    .describe('A text, or items: messages, calls of tools and their outputs, reasoning.'),
  instructions: z.string('must be a text').nullish(),
  stream: z.boolean('must be true or false').nullish(),
  store: z
    .boolean('must be true or false')
    .nullish()
    .describe('Nothing is stored: true is refused, and absent means false.'),
  max_output_tokens: TOKENS.nullish(),
  tools: z
    .array(z.looseObject({ type: z.string() }))
    .nullish()
    .describe('Of the types function and custom.'),
  tool_choice: z.union([z.string(), object]).nullish(),
  text: z
    .looseObject({ format: z.looseObject({ type: z.string() }).nullish(), verbosity: z.string().nullish() })
    .nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish(), summary: z.string().nullish() }).nullish(),
  include: z.array(z.string()).nullish(),
});
export type ResponsesBody = z.output<typeof RESPONSES_BODY>;

// One place where a text model can be had: its address, its credentials, its dialect.
import { z } from 'zod';

const text = z.string().min(1);
const count = z.int().min(0);
/** What is not a credential’s place: headers that the gateway or the protocol sets. */
const HEADERS_RESERVED = new Set([
  'host',
  'connection',
  'content-type',
  'content-length',
  'transfer-encoding',
]);

const AUTH = z
  .union(
    [
      z.literal('bearer'),
      z.literal('none'),
      z.strictObject({
        header: z
          .string()
          .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'expected the name of a header')
          .refine((name) => !HEADERS_RESERVED.has(name.toLowerCase()), 'this header has another use'),
      }),
    ],
    { error: 'expected "bearer", "none" or { "header": "…" }' },
  )
  .describe(
    'How the API key is sent: as a bearer token, not at all (then none is needed), or in this header.',
  );

const BASE_URL = z
  .url({ protocol: /^https?$/, error: 'expected a URL that begins with https:// or http://' })
  .transform((url) => url.replace(/\/+$/, ''));

export const UPSTREAM = z
  .strictObject({
    family: text.describe('Names its settings, such as `DEEPSEEK_API_KEY` for the family deepseek.'),
    upstreamModel: text,
    priority: count.default(1).describe('1 is tried first.'),
    weight: count.default(1).describe('Among equal priorities, the probability of being tried first.'),
    baseUrl: BASE_URL.exactOptional().describe(
      'Where it speaks OpenAI’s API, with the version, such as `https://api.deepseek.com/v1`. Absent: the setting ' +
        '`<FAMILY>_BASE_URL`.',
    ),
    auth: AUTH.default('bearer'),
    limitField: z
      .enum(['max_completion_tokens', 'max_tokens'])
      .default('max_completion_tokens')
      .describe('The field in which this service takes the limit of an answer.'),
    responses: z
      .boolean()
      .default(false)
      .describe('Whether it speaks OpenAI’s Responses API too. Else those calls are translated for it.'),
    allowHttp: z.boolean().default(false).describe('Permits plain http to a private host in production too.'),
  })
  .describe('One place where a text model can be had.');
export type Upstream = z.output<typeof UPSTREAM>;

/** What a model says of where it can be had. */
interface TextRoute {
  family: string;
  upstreamModel: string;
  upstreams: readonly Upstream[];
}

/** The upstreams of a text model: those it lists, else its family under the family’s own settings. */
export function upstreamsOf({ family, upstreamModel, upstreams }: TextRoute): readonly Upstream[] {
  return upstreams.length > 0 ? upstreams : [familyUpstream(family, upstreamModel)];
}

/** Families whose own API has Responses (platform.openai.com/docs/api-reference/responses). */
const RESPONSES_FAMILIES: ReadonlySet<string> = new Set(['openai']);

/** The upstream that a family’s settings alone describe. */
export function familyUpstream(family: string, upstreamModel: string): Upstream {
  return UPSTREAM.parse({ family, upstreamModel, responses: RESPONSES_FAMILIES.has(family) });
}

// The settings of the environment: the form, the bounds, the default and the meaning of each.
import { z } from 'zod';
import { FAMILY_DEFAULTS } from './families.ts';
import { parseKeyRing } from './key-ring.ts';

const integer = (fallback: number, min: number, max: number) =>
  z.coerce
    .number('expected a number')
    .int('expected a whole number')
    .min(min, `expected at least ${min}`)
    .max(max, `expected at most ${max}`)
    .default(fallback);
const text = z.string().min(1);
const url = (protocols: RegExp) => z.url({ protocol: protocols });
/** Requests per seconds, such as `120/60`. Whole seconds: Redis would keep shorter windows for ever. */
const limit = (fallback: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,8}\/[1-9]\d{0,5}$/, 'expected points/seconds, such as 120/60')
    .default(fallback)
    .transform((value) => {
      const [points = 1, seconds = 1] = value.split('/').map(Number);
      return { points, seconds };
    });

/** A number of hops, or addresses and networks separated by commas. */
const hops = z.coerce.number().int().min(1).max(10);
const networks = z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]));
const listed = z.string().transform((value) => value.split(',').map((part) => part.trim()));
const proxies = z.union([hops, listed.pipe(networks)], 'expected 1 to 10 hops, or addresses and networks');

const PROCESS = {
  NODE_ENV: z
    .enum(['development', 'production', 'test'])
    .default('development')
    .describe('`production` refuses the sandbox, development keys and vendors over plain http'),
  PORT: integer(8080, 0, 65_535).describe('where the API listens'),
  HOST: text.default('127.0.0.1'),
  SVC_INTERNAL_PORT: integer(9090, 0, 65_535).describe(
    'where the API and the worker answer `/livez`, `/readyz` and `/metrics`',
  ),
  SVC_WORKER_INTERNAL_PORT: integer(9091, 0, 65_535),
  SVC_INTERNAL_HOST: text
    .default('127.0.0.1')
    .describe('the address of these two; never one that callers can reach'),
  SVC_PUBLIC_URL: url(/^https?$/)
    .optional()
    .describe('the address callers use; result links begin with it'),
  SVC_TEMPORAL_UI_URL: url(/^https?$/)
    .optional()
    .describe('where administrators reach Temporal’s UI; the console links to it'),
  SVC_TRUSTED_PROXIES: proxies
    .optional()
    .describe(
      'whose `X-Forwarded-For` is believed: a number of hops, or addresses and networks such as `10.0.0.0/8`',
    ),
  SVC_DATA_DIR: text
    .default('.data')
    .describe('results where there is no bucket; all of a development system'),
  SVC_CONSOLE_DIR: text
    .default('console/dist')
    .describe('the built console; without one there, `/console/` answers 404'),
  SVC_SECRET_KEYS: text
    .transform(parseKeyRing)
    .describe(
      'key ring for hashes and encryption: `id:base64url-of-32-bytes`, newest first, separated by commas',
    ),
  SVC_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('debug, info, warn, error, silent'),
  SVC_DRAIN_SECONDS: integer(5, 0, 15).describe(
    'how long an API that was told to stop goes on serving, unready, until load balancers have noticed',
  ),
  SVC_WORKER_GRACE_SECONDS: integer(10, 1, 3600).describe(
    'how long running calls to vendors may go on when a worker is told to stop',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(/^https?$/)
    .optional()
    .describe('traces over OTLP as `http/json`; the other OTEL_* settings of the SDK count too'),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/json', 'expected http/json').optional(),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], 'expected otlp or none').optional(),
};

const SERVERS = {
  DATABASE_URL: url(/^postgres(ql)?$/).describe('PostgreSQL'),
  SVC_DATABASE_OWNER_URL: url(/^postgres(ql)?$/)
    .optional()
    .describe('the same database as the user who owns the tables; only `npm run db -- migrate` reads it'),
  SVC_DATABASE_CONNECTIONS_MAX: integer(16, 2, 200).describe('connections of one process'),
  TEMPORAL_ADDRESS: text
    .optional()
    .describe('and the other TEMPORAL_* settings of the SDK, such as TLS and API key'),
  TEMPORAL_NAMESPACE: text.optional(),
  REDIS_URL: url(/^rediss?$/)
    .optional()
    .describe('rate limits shared by all API processes; without it each process counts for itself'),
  SVC_S3_BUCKET: text.optional().describe('results in a bucket that speaks S3 instead of on disk'),
  SVC_S3_ACCESS_KEY_ID: text.optional(),
  SVC_S3_SECRET_ACCESS_KEY: text.optional(),
  SVC_S3_REGION: text.default('us-east-1').describe('the bucket’s region'),
  SVC_S3_ENDPOINT: url(/^https?$/)
    .optional()
    .describe('another service than Amazon’s'),
};

const WORK = {
  SVC_CATALOG: text.default('catalog.json').describe('models, limits, prices (see [models](models.md))'),
  SVC_CATALOG_OVERLAY: text
    .optional()
    .describe('a file that adds, changes or removes models (see [own models](own-models.md))'),
  SVC_PRICE_MARGIN_PERCENT: integer(0, 0, 1000).describe('added to every price of the catalogue'),
  SVC_TASK_DEADLINE_SECONDS: integer(3600, 1, 86_400).describe(
    'how long a vendor may take before the task fails',
  ),
  SVC_RUNNING_TASKS_PER_USER: integer(20, 1, 10_000).describe('in progress at once; further ones wait'),
  SVC_WAITING_TASKS_PER_USER: integer(200, 0, 100_000).describe('further ones are refused with 429'),
  SVC_UPSTREAM_TIMEOUT_SECONDS: integer(120, 1, 3600).describe('longest silence of a vendor in one call'),
  SVC_REQUEST_KEPT_DAYS: integer(7, 1, 3650).describe(
    'how long after its end a task can be retried; then its input images are removed',
  ),
  SVC_RESULT_URL_SECONDS: integer(3600, 60, 604_800).describe(
    'life of a result link; reading the task renews it',
  ),
  SVC_CHAT_LEASE_SECONDS: integer(120, 1, 86_400).describe(
    'life of a chat call’s reservation when its process dies',
  ),
  SVC_STREAM_SECONDS_MAX: integer(1800, 1, 86_400).describe('longest life of a chat call'),
  SVC_UPSTREAM_CONNECTIONS_MAX: integer(1024, 2, 20_000).describe(
    'connections of one API process to one chat upstream; a user may have as many as are still free',
  ),
  SVC_LOSS_BRAKE_CREDITS: z.coerce
    .number('expected a number')
    .int('expected a whole number')
    .min(0, 'expected at least 0')
    .max(1_000_000_000, 'expected at most 1000000000')
    .optional()
    .describe('a user whose loss of a UTC day is above it is held to what vendors report promptly'),
  SVC_UPLOAD_BYTES_MAX: integer(200 * 1024 * 1024, 1, 10 * 1024 ** 3).describe('of one uploaded video'),
  SVC_UPLOAD_QUOTA_BYTES: integer(1024 ** 3, 1, 1024 ** 5).describe('of all uploaded videos of a user'),
};

/** What is removed by age. 100 years at most. */
const days = (fallback: number) => integer(fallback, 0, 36_500);
const RETENTION = {
  SVC_RETENTION_RESULT_DAYS: days(30).describe('files and texts of completed tasks'),
  SVC_RETENTION_TASK_DAYS: days(365).describe('tasks with their requests and timelines'),
  SVC_RETENTION_CALL_DAYS: days(90).describe('chat calls'),
  SVC_RETENTION_AUDIT_DAYS: days(0).describe('audit entries, but those that stand behind credits'),
};

const LIMITS = {
  SVC_LIMIT_CHAT: limit('120/60').describe('chat calls, for each key'),
  SVC_CHAT_CONCURRENT_PER_USER: integer(200, 1, 100_000).describe(
    'chat calls of one user at once in one API process; further ones are refused with 429',
  ),
  SVC_LIMIT_CREATE: limit('60/60').describe('images, videos, tasks and retries, for each user'),
  SVC_LIMIT_READ: limit('600/60').describe('everything else, for each key or user'),
  SVC_LIMIT_UPLOAD: limit('10/60').describe('uploads, for each user'),
  SVC_LIMIT_WEBHOOK: limit('30/60').describe(
    'webhook events sent on request, as a test or once more, for each user',
  ),
  SVC_LIMIT_AUTH: limit('20/1200').describe('logins, verifications and redemptions, for each address'),
  SVC_LIMIT_STRAY: limit('600/60').describe(
    'unknown routes, wrong sessions and forged links, for each address',
  ),
  SVC_RATE_LIMIT_REQUIRE_REDIS: z
    .enum(['0', '1'], 'expected 0 or 1')
    .default('0')
    .describe('`1`: when Redis does not answer, whatever is limited is refused with 429'),
  SVC_REQUESTS_IN_FLIGHT_MAX: integer(4_000, 1, 100_000).describe(
    'further requests to one API process are refused with 503',
  ),
  SVC_OVERLOAD_DELAY_MS: integer(200, 20, 60_000).describe(
    'so are those of users with many requests while the event loop is this late for two seconds',
  ),
};

export const SETTINGS = z.object({ ...PROCESS, ...SERVERS, ...WORK, ...RETENTION, ...LIMITS });
export type Settings = z.output<typeof SETTINGS>;

/** Every setting that is read, with the default as a text, or null where there is none. */
export const SETTING_DEFAULTS: ReadonlyMap<string, string | null> = new Map([
  ...Object.entries(SETTINGS.shape).map(([name, schema]): [string, string | null] => {
    const { data } = schema.safeParse(undefined);
    return [name, data === undefined ? null : writeDefault(data)];
  }),
  ...FAMILY_DEFAULTS,
]);

/**
 * What docs/settings.md says of a setting. Of settings with one meaning together, only the first is in here.
 */
export const SETTING_MEANINGS: ReadonlyMap<string, string> = new Map(
  Object.entries(SETTINGS.shape).flatMap(([name, { description }]) =>
    description === undefined ? [] : [[name, description]],
  ),
);

function writeDefault(value: string | number | object): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? Object.values(value).join('/') : String(value);
}

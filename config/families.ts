// Settings of the vendors' families: where each is reached, and with which credentials.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Catalog } from '../domain/catalog/catalog.ts';
import type { Upstream } from '../domain/catalog/upstream.ts';

const VENDOR_BASE_URLS: Readonly<Record<string, string>> = {
  openai: 'https://api.openai.com/v1',
  grok: 'https://api.x.ai/v1',
  gemini: 'https://generativelanguage.googleapis.com/v1beta',
  sora: 'https://api.openai.com/v1',
  veo: 'https://generativelanguage.googleapis.com/v1beta',
  seedance: 'https://ark.ap-southeast.bytepluses.com/api/v3',
  kling: 'https://api-singapore.klingai.com',
  hailuo: 'https://api.minimax.io',
  vidu: 'https://api.vidu.com',
  wan: 'https://dashscope-intl.aliyuncs.com',
};
const CREDENTIAL_ID_CHARACTERS = 8;

/** The name of a family that a catalogue brings along: the names of its settings begin with it. */
const FAMILY_NAME = /^[a-z][a-z0-9-]{0,39}$/;

/** The settings of one family, without the family's name in front. */
const FAMILY = z.object({
  API_KEY: z.string().transform(parseCredentials).optional(),
  BASE_URL: z
    .url('not a URL')
    .transform((url) => url.replace(/\/$/, ''))
    .optional(),
  JOBS_PER_CREDENTIAL_MAX: z
    .string()
    .regex(/^[1-9]\d{0,5}$/, 'expected a number from 1 to 999999')
    .transform(Number)
    .optional(),
});
const FAMILY_SETTINGS = FAMILY.keyof().options;

/** The settings of the families known here, with their defaults. */
export const FAMILY_DEFAULTS: readonly [name: string, value: string | null][] = Object.entries(
  VENDOR_BASE_URLS,
).flatMap(([family, baseUrl]) =>
  FAMILY_SETTINGS.map((setting): [string, string | null] => [
    variableOf(family, setting),
    setting === 'BASE_URL' ? baseUrl : null,
  ]),
);

/** The settings of one family, as `FamilySettings` of providers/ expects them; the compiler compares. */
export type Family = Omit<ReturnType<typeof readFamily>, 'isAddressSet'>;

/** The upstreams that a catalogue's text models list. */
export function listedUpstreams({ models }: Catalog): Upstream[] {
  return [...models.values()].flatMap(({ upstreams }) => upstreams);
}

/** Whether a base URL is in the domain at which the family's vendor itself serves, as googleapis.com. */
export function isVendorsOwnAddress(family: string, baseUrl: string): boolean {
  const own = VENDOR_BASE_URLS[family];
  return own !== undefined && URL.canParse(baseUrl) && domainOf(own) === domainOf(baseUrl);
}

/** Whether a base URL is at the host that is asked where none is set. */
export function isDefaultHost(family: string, baseUrl: string): boolean {
  const own = VENDOR_BASE_URLS[family];
  return own !== undefined && URL.canParse(baseUrl) && new URL(own).host === new URL(baseUrl).host;
}

/** The last two labels of the host. */
function domainOf(url: string): string {
  return new URL(url).hostname.split('.').slice(-2).join('.');
}

/**
 * Reads the families that have a key, or a base URL where an upstream needs no key: those known here, and
 * those of `upstreams`, which speak OpenAI's chat. What is wrong is added to `problems`.
 */
export function readFamilies(
  env: Readonly<Record<string, string>>,
  upstreams: readonly Upstream[],
  problems: string[],
): Record<string, Family> {
  const families: Record<string, Family> = {};
  const named = upstreams.map(({ family }) => family);
  for (const family of new Set([...Object.keys(VENDOR_BASE_URLS), ...named])) {
    if (!FAMILY_NAME.test(family)) problems.push(`SVC_CATALOG: "${family}" cannot be the name of a family`);
    const settings = readFamily(env, family, problems);
    const own = upstreams.filter((upstream) => upstream.family === family);
    const isKeyless = own.some(({ auth }) => auth === 'none') && settings.isAddressSet;
    if (settings.credentials.length === 0 && !isKeyless) continue;
    const needsAddress = own.length === 0 || own.some(({ baseUrl }) => baseUrl === undefined);
    if (settings.baseUrl === '' && needsAddress)
      problems.push(`${variableOf(family, 'BASE_URL')}: required for this family`);
    const { isAddressSet: _isAddressSet, ...read } = settings;
    families[family] = read;
  }
  return families;
}

/** Empty credentials: the family has no key. An empty base URL: neither set nor known. */
function readFamily(env: Readonly<Record<string, string>>, family: string, problems: string[]) {
  const values = FAMILY_SETTINGS.map((setting) => [setting, env[variableOf(family, setting)]] as const);
  const { data, error } = FAMILY.safeParse(Object.fromEntries(values));
  for (const { path, message } of error?.issues ?? [])
    problems.push(`${variableOf(family, String(path[0]))}: ${message}`);
  const jobsPerCredentialMax = data?.JOBS_PER_CREDENTIAL_MAX;
  return {
    baseUrl: data?.BASE_URL ?? VENDOR_BASE_URLS[family] ?? '',
    isAddressSet: data?.BASE_URL !== undefined,
    credentials: data?.API_KEY ?? [],
    ...(jobsPerCredentialMax === undefined ? {} : { jobsPerCredentialMax }),
  };
}

/** `OPENAI_API_KEY`; a hyphen in a family's name becomes an underscore. */
export function variableOf(family: string, setting: string): string {
  return `${family.toUpperCase().replaceAll('-', '_')}_${setting}`;
}

/**
 * Reads one key, or several separated by commas; a service account's JSON is one key. The id of a credential
 * is derived from its key, so that jobs in progress find theirs when the list changes; it reveals nothing
 * about the key.
 */
function parseCredentials(text: string) {
  const keys = text.trim().startsWith('{') ? [text.trim()] : text.split(',').map((key) => key.trim());
  return [...new Set(keys.filter((key) => key !== ''))].map((key) => ({
    id: createHash('sha256').update(key).digest('hex').slice(0, CREDENTIAL_ID_CHARACTERS),
    key,
  }));
}

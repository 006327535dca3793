// Settings of the vendors' families: where each is reached, and with which credentials.
import { createHash } from 'node:crypto';
import type { Catalog } from '../domain/catalog/catalog.ts';
import type { Credential, FamilySettings } from '../providers/settings.ts';

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
/** Of a family that a catalogue brings along: its name begins those of its settings. */
const FAMILY_NAME = /^[a-z][a-z0-9-]{0,39}$/;

/** The settings of the families known here, with their defaults. */
export const FAMILY_DEFAULTS: readonly [name: string, value: string | null][] = Object.entries(
  VENDOR_BASE_URLS,
).flatMap(([family, baseUrl]): [string, string | null][] => [
  [settingOf(family, 'API_KEY'), null],
  [settingOf(family, 'BASE_URL'), baseUrl],
  [settingOf(family, 'JOBS_PER_CREDENTIAL_MAX'), null],
]);

/** The families at which a catalogue's text models can be had beside their own. */
export function upstreamFamilies({ models }: Catalog): string[] {
  const named = [...models.values()].flatMap(({ upstreams }) => upstreams.map(({ family }) => family));
  return [...new Set(named)];
}

/**
 * The families that have a key: those known here, and `others`, which speak OpenAI's chat at a base URL of their own.
 * What is wrong is added to `problems`.
 */
export function readFamilies(
  env: Readonly<Record<string, string>>,
  others: readonly string[],
  problems: string[],
): Record<string, FamilySettings> {
  const families: Record<string, FamilySettings> = {};
  for (const family of new Set([...Object.keys(VENDOR_BASE_URLS), ...others])) {
    if (!FAMILY_NAME.test(family)) problems.push(`SVC_CATALOG: "${family}" cannot be the name of a family`);
    const settings = readFamily(env, family, problems);
    if (settings) families[family] = settings;
  }
  return families;
}

function readFamily(
  env: Readonly<Record<string, string>>,
  family: string,
  problems: string[],
): FamilySettings | null {
  const key = env[settingOf(family, 'API_KEY')];
  const baseUrl = env[settingOf(family, 'BASE_URL')] ?? VENDOR_BASE_URLS[family];
  if (baseUrl !== undefined && !URL.canParse(baseUrl))
    problems.push(`${settingOf(family, 'BASE_URL')}: not a URL`);
  const jobsMax = env[settingOf(family, 'JOBS_PER_CREDENTIAL_MAX')];
  if (jobsMax !== undefined && !/^[1-9]\d{0,5}$/.test(jobsMax))
    problems.push(`${settingOf(family, 'JOBS_PER_CREDENTIAL_MAX')}: expected a number from 1 to 999999`);
  if (key === undefined) return null;
  if (baseUrl === undefined) problems.push(`${settingOf(family, 'BASE_URL')}: required for this family`);
  return {
    baseUrl: (baseUrl ?? '').replace(/\/$/, ''),
    credentials: readCredentials(key),
    ...(jobsMax === undefined ? {} : { jobsPerCredentialMax: Number(jobsMax) }),
  };
}

/** `OPENAI_API_KEY`; a hyphen in a family's name becomes an underscore. */
function settingOf(family: string, setting: string): string {
  return `${family.toUpperCase().replaceAll('-', '_')}_${setting}`;
}

/**
 * One key, or several separated by commas; a service account's JSON is one. The id of a credential follows from its
 * key, so that jobs in progress find theirs when the list changes; it tells nothing about the key.
 */
function readCredentials(text: string): Credential[] {
  const keys = text.trim().startsWith('{') ? [text.trim()] : text.split(',').map((key) => key.trim());
  return [...new Set(keys.filter((key) => key !== ''))].map((key) => ({
    id: createHash('sha256').update(key).digest('hex').slice(0, CREDENTIAL_ID_CHARACTERS),
    key,
  }));
}

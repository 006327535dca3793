// Which adapters there are, and which of them this installation can use.
import * as grokVideo from './grok-video.ts';
import * as openaiImages from './openai-images.ts';
import type { Provider } from './provider.ts';
import type { AdapterSettings, FamilySettings } from './settings.ts';

/** Every adapter there is. A new vendor is one more line here. */
const ADAPTERS: readonly { name: string; family: string; create: (settings: AdapterSettings) => Provider }[] =
  [
    { name: openaiImages.NAME, family: openaiImages.FAMILY, create: openaiImages.createOpenaiImages },
    { name: grokVideo.NAME, family: grokVideo.FAMILY, create: grokVideo.createGrokVideo },
  ];

export interface ProvidersSettings {
  /** By family, such as `openai` and `grok`. */
  families: Readonly<Record<string, FamilySettings>>;
  /** Longest silence of a vendor during one call. */
  upstreamTimeoutMs: number;
}

export interface Providers {
  /** The adapter of this name, or undefined when it is unknown or its family has no credentials. */
  get(adapterName: string): Provider | undefined;
  /** Families that can be used, in the order of the registry. */
  families(): string[];
  /** How many jobs one credential of a family may have at its vendor at once, or null. */
  jobsPerCredentialMax(family: string): number | null;
}

/** Builds all adapters whose family has a credential. Throws a TypeError for a base URL that is none. */
export function createProviders(settings: ProvidersSettings): Providers {
  const providers = ADAPTERS.flatMap(({ family, create }) => {
    const familySettings = settings.families[family];
    if (!familySettings || familySettings.credentials.length === 0) return [];
    const baseUrl = familySettings.baseUrl.replace(/\/+$/, '');
    return [create({ ...familySettings, baseUrl, upstreamTimeoutMs: settings.upstreamTimeoutMs })];
  });
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  return {
    get: (adapterName) => byName.get(adapterName),
    families: () => [...new Set(providers.map(({ family }) => family))],
    jobsPerCredentialMax: (family) => settings.families[family]?.jobsPerCredentialMax ?? null,
  };
}

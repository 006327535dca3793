// All adapters, and those of them that this installation has credentials for.
import * as geminiImages from './google/gemini-images.ts';
import * as geminiOmni from './google/omni.ts';
import * as grokVideo from './grok/video.ts';
import * as hailuo from './hailuo/hailuo.ts';
import * as kling from './kling/kling.ts';
import { observeProvider, type ObserveCall } from './observed.ts';
import * as openaiChat from './openai/chat.ts';
import * as openaiImages from './openai/images.ts';
import type { Provider } from './provider.ts';
import * as seedance from './seedance/seedance.ts';
import type { AdapterSettings, FamilySettings } from './settings.ts';
import * as sora from './openai/sora.ts';
import * as veo from './google/veo.ts';
import * as vidu from './vidu/vidu.ts';
import * as wan from './wan/wan.ts';

/**
 * Every adapter of one family; that of text tasks has all of them. A new vendor is one more line here, and
 * one in `domain/catalog/adapters.ts`.
 */
const ADAPTERS: readonly { name: string; family: string; create: (settings: AdapterSettings) => Provider }[] =
  [
    { name: openaiImages.NAME, family: openaiImages.FAMILY, create: openaiImages.createOpenaiImages },
    { name: grokVideo.NAME, family: grokVideo.FAMILY, create: grokVideo.createGrokVideo },
    { name: geminiImages.NAME, family: geminiImages.FAMILY, create: geminiImages.createGeminiImages },
    { name: geminiOmni.NAME, family: geminiOmni.FAMILY, create: geminiOmni.createGeminiOmni },
    { name: vidu.NAME, family: vidu.FAMILY, create: vidu.createVidu },
    { name: kling.NAME, family: kling.FAMILY, create: (settings) => kling.createKling(settings) },
    { name: hailuo.NAME, family: hailuo.FAMILY, create: hailuo.createHailuo },
    { name: seedance.NAME, family: seedance.FAMILY, create: seedance.createSeedance },
    { name: wan.NAME, family: wan.FAMILY, create: wan.createWan },
    { name: sora.NAME, family: sora.FAMILY, create: sora.createSora },
    { name: veo.NAME, family: veo.FAMILY, create: (settings) => veo.createVeo(settings) },
  ];

export interface ProvidersSettings {
  /** By family, such as `openai` and `grok`. */
  families: Readonly<Record<string, FamilySettings>>;
  /** Longest silence of a vendor during one request. */
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

/**
 * Builds all adapters whose family has a credential; `observe` is called around their calls. Throws a
 * TypeError for a malformed base URL.
 */
export function createProviders(settings: ProvidersSettings, observe?: ObserveCall): Providers {
  const { upstreamTimeoutMs } = settings;
  const families = Object.fromEntries(
    Object.entries(settings.families).map(([family, each]) => {
      return [family, { ...each, baseUrl: each.baseUrl.replace(/\/+$/, '') }];
    }),
  );
  const ofFamilies = ADAPTERS.flatMap(({ family, create }) => {
    const familySettings = families[family];
    if (!familySettings || familySettings.credentials.length === 0) return [];
    return [create({ ...familySettings, upstreamTimeoutMs })];
  });
  const all = [openaiChat.createOpenaiChat({ families, upstreamTimeoutMs }), ...ofFamilies];
  const providers = observe ? all.map((provider) => observeProvider(provider, observe)) : all;
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  return {
    get: (adapterName) => byName.get(adapterName),
    families: () => [...new Set(ofFamilies.map(({ family }) => family))],
    jobsPerCredentialMax: (family) => settings.families[family]?.jobsPerCredentialMax ?? null,
  };
}

// Points vendor families at the sandbox: the only list of the paths under which it plays them.

export interface VendorFamily {
  /** Prefix of the family's settings. */
  prefix: string;
  /** Path under which the sandbox plays the family. */
  sandboxPath: string;
}

export const VENDOR_FAMILIES: readonly VendorFamily[] = [
  { prefix: 'OPENAI', sandboxPath: '/openai/v1' },
  { prefix: 'GROK', sandboxPath: '/xai/v1' },
  { prefix: 'GEMINI', sandboxPath: '/google/v1beta' },
  { prefix: 'SORA', sandboxPath: '/openai/v1' },
  { prefix: 'VEO', sandboxPath: '/google/v1beta' },
  { prefix: 'SEEDANCE', sandboxPath: '/ark/api/v3' },
  { prefix: 'KLING', sandboxPath: '/kling' },
  { prefix: 'HAILUO', sandboxPath: '/minimax' },
  { prefix: 'VIDU', sandboxPath: '/vidu' },
  { prefix: 'WAN', sandboxPath: '/dashscope' },
];
/** API key for the sandbox, which accepts any. */
const SANDBOX_KEY = 'sandbox';

/** Builds a base URL and a key for each of the families, by the names of their settings. */
export function sandboxSettings(
  sandboxUrl: string,
  families: readonly VendorFamily[] = VENDOR_FAMILIES,
): Record<string, string> {
  return Object.fromEntries(
    families.flatMap(({ prefix, sandboxPath }) => [
      [`${prefix}_BASE_URL`, `${sandboxUrl}${sandboxPath}`],
      [`${prefix}_API_KEY`, SANDBOX_KEY],
    ]),
  );
}

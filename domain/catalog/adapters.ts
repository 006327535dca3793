// The names of all adapters, for the check of a catalogue; providers/registry.ts has the adapters themselves.

/**
 * The adapters of `providers/registry.ts`, each with the family whose settings it uses; `openai-chat` serves
 * every family.
 */
export const ADAPTERS = {
  'openai-chat': 'openai',
  'openai-images': 'openai',
  'grok-video': 'grok',
  'gemini-images': 'gemini',
  'gemini-omni': 'gemini',
  vidu: 'vidu',
  kling: 'kling',
  hailuo: 'hailuo',
  seedance: 'seedance',
  wan: 'wan',
  sora: 'sora',
  veo: 'veo',
} as const;
export type AdapterName = keyof typeof ADAPTERS;

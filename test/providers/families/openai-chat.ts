// How openai-chat ends under every misfortune.
import { textJob } from '../stand-in.ts';
import type { Family } from './family.ts';

/** The text that the sandbox repeats as often as the answer needs. */
const WORDS = 'the quick brown fox jumps over the lazy dog and runs into the deep white snow'.split(' ');

export const FAMILY: Family = {
  adapter: 'openai-chat',
  family: 'openai',
  path: '/openai/v1',
  job: textJob(),
  endings: {
    '': '“the quick brown fox jumps over the lazy”',
    'tokens=2': '“the quick”',
    'tokens=60': `“${Array.from({ length: 50 }, (_, index) => WORDS[index % WORDS.length]).join(' ')}”`,
    'submit=500': 'transient, unknown',
    'submit=no_id': 'invalid_response, refused',
    'outcome=fail reason=internal': 'transient, unknown',
    'outcome=fail reason=invalid': 'invalid, refused',
    'outcome=fail reason=quota': 'quota, not_received',
    'outcome=fail reason=concurrency': 'rate, not_received',
    'outcome=fail reason=moderation': 'moderation, refused',
    'outcome=stuck': 'transient, unknown',
    'deliver=0': 'invalid_response, refused',
  },

  progress: [],
  evidence: {
    honest: { promptTokens: 6, completionTokens: 8, cachedTokens: 0, cacheWriteTokens: 0 },
    doubtful: null,
  },
  cancel: null,
  lookUp: null,
};

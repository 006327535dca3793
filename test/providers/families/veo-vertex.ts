// How veo ends under every misfortune, on Vertex, whose last answer holds the video itself.
import type { Family } from './family.ts';
import { FAMILY as GEMINI } from './veo.ts';

export const FAMILY: Family = {
  ...GEMINI,
  path: '/google/v1/projects/sandbox-project/locations/us-central1',
  job: { ...GEMINI.job, upstreamModel: 'veo-3.1-generate-001' },
  endings: {
    ...GEMINI.endings,
    'result=404': 'failed: invalid_response',
    'result=html': 'failed: invalid_response',
    'result=private': 'failed: invalid_response',
    'result=redirect_private': 'failed: invalid_response',
    'result=javascript': 'failed: invalid_response',
    'result=slow': 'transient, unknown',
    'result=endless': 'transient, unknown',
    'result=truncated': 'failed: invalid_response',
  },
};

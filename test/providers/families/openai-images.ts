// How openai-images ends under every misfortune.
import { imageJob } from '../stand-in.ts';
import type { Family } from './family.ts';

export const FAMILY: Family = {
  adapter: 'openai-images',
  family: 'openai',
  path: '/openai/v1',
  job: imageJob({ images: 2 }),
  endings: {
    '': 'image/png, image/png',
    'submit=500': 'transient, refused',
    'submit=no_id': 'invalid_response, refused',
    'outcome=fail reason=internal': 'transient, refused',
    'outcome=fail reason=invalid': 'invalid, refused',
    'outcome=fail reason=quota': 'quota, not_received',
    'outcome=fail reason=concurrency': 'rate, not_received',
    'outcome=fail reason=moderation': 'moderation, refused',
    'outcome=moderated': 'moderation, refused',
    'deliver=1': 'image/png',
    'deliver=3': 'image/png, image/png',
    'deliver=0': 'invalid_response, refused',
    'result=404': 'invalid_response, refused',
    'result=html': 'invalid_response, refused',
    'result=missing': 'invalid_response, refused',
    'result=private': 'invalid_response, refused',
    'result=redirect_private': 'invalid_response, refused',
    'result=javascript': 'invalid_response, refused',
    'result=slow': 'transient, unknown',
    // The sandbox sends it so slowly that the time limit comes before the size limit.
    'result=endless': 'transient, unknown',
    'result=truncated': 'invalid_response, refused',
    'usage=negative': 'image/png, image/png',
  },

  progress: [],
  evidence: { honest: { images: 2 }, doubtful: { images: 2 } },
  cancel: null,
  lookUp: null,
};

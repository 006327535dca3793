// How gemini-images ends under every misfortune.
import { imageJob } from '../stand-in.ts';
import type { Family } from './family.ts';

export const FAMILY: Family = {
  adapter: 'gemini-images',
  family: 'gemini',
  path: '/google/v1beta',
  job: imageJob({ upstreamModel: 'gemini-nano-banana-2.1' }),
  endings: {
    '': 'image/png',
    'submit=500': 'transient, refused',
    'submit=no_id': 'invalid_response, refused',
    'outcome=fail reason=internal': 'transient, refused',
    'outcome=fail reason=invalid': 'invalid, refused',
    'outcome=fail reason=quota': 'quota, not_received',
    'outcome=fail reason=concurrency': 'rate, not_received',
    'outcome=fail reason=moderation': 'moderation, refused',
    'outcome=moderated': 'moderation, refused',
    'outcome=expire': 'transient, unknown',
    'outcome=cancelled': 'transient, refused',
    'deliver=3': 'image/png',
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
    'usage=negative': 'image/png',
  },
  progress: [],
  evidence: { honest: { images: 1 }, doubtful: { images: 1 } },
  cancel: null,
  lookUp: null,
};

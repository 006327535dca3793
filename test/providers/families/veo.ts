// How veo ends under every misfortune, on the Gemini API.
import { videoJob } from '../stand-in.ts';
import type { Family } from './family.ts';

const { order } = videoJob();

export const FAMILY: Family = {
  adapter: 'veo',
  family: 'veo',
  path: '/google/v1beta',
  job: videoJob({
    upstreamModel: 'veo-3.1-generate-preview',
    order: { ...order, seconds: 8, resolution: '720p', audio: true },
  }),
  endings: {
    '': 'video/mp4',
    'submit=500': 'transient, unknown',
    'outcome=fail reason=internal': 'failed: transient',
    'outcome=fail reason=internal text=leaky': 'failed: transient',
    'outcome=fail reason=invalid': 'failed: invalid',
    'outcome=fail reason=quota': 'failed: quota',
    // One code for too much of anything, and words that say no more.
    'outcome=fail reason=concurrency': 'failed: rate',
    'outcome=fail reason=moderation': 'failed: moderation',
    'outcome=fail reason=moderation text=leaky': 'failed: moderation',
    'outcome=moderated': 'failed: moderation',
    // An operation that expired is gone: the vendor has no word for it.
    'outcome=expire': 'expired, refused',
    'outcome=cancelled': 'cancelled',
    // Done with nothing to show is how the vendor withholds a video.
    'deliver=0': 'failed: moderation',
    'deliver=2': 'video/mp4',
    'poll=500': 'transient, unknown',
    'poll=429': 'rate, not_received',
    'poll=hang': 'transient, unknown',
    'poll=html': 'invalid_response, unknown',
    'poll=not_found': 'expired, refused',
    'poll=weird*3': 'video/mp4',
    'poll=regress': 'video/mp4',
    'result=404': 'expired, refused',
    'result=html': 'null',
    'result=missing': 'failed: invalid_response',
    'result=private': 'invalid_response, refused',
    'result=redirect_private': 'invalid_response, refused',
    'result=javascript': 'null',
    'result=slow': 'transient, not_received',
    'result=endless': 'invalid_response, refused',
    'result=truncated': 'transient, not_received',
    'usage=text': 'video/mp4',
  },
  progress: [],
  evidence: { honest: {}, doubtful: {} },
  cancel: null,
  lookUp: null,
};

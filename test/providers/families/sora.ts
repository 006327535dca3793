// How sora ends under every misfortune.
import { videoJob } from '../stand-in.ts';
import type { Family } from './family.ts';

const { order } = videoJob();

export const FAMILY: Family = {
  adapter: 'sora',
  family: 'sora',
  path: '/openai/v1',
  job: videoJob({
    upstreamModel: 'sora-2',
    order: { ...order, seconds: 4, resolution: '720p', audio: true },
  }),
  endings: {
    '': 'video/mp4',
    'submit=500': 'transient, unknown',
    'outcome=fail reason=internal': 'failed: transient',
    'outcome=fail reason=internal text=leaky': 'failed: transient',
    'outcome=fail reason=invalid': 'failed: invalid',
    'outcome=fail reason=quota': 'failed: quota',
    'outcome=fail reason=concurrency': 'failed: concurrency',
    'outcome=fail reason=moderation': 'failed: moderation',
    'outcome=moderated': 'failed: moderation',
    'outcome=expire': 'expired',
    'outcome=cancelled': 'cancelled',
    'deliver=0': 'expired, refused',
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
    'result=missing': 'expired, refused',
    'result=private': 'invalid_response, refused',
    'result=redirect_private': 'invalid_response, refused',
    'result=javascript': 'null',
    'result=slow': 'transient, not_received',
    'result=endless': 'invalid_response, refused',
    'result=truncated': 'transient, not_received',
    'usage=text': 'video/mp4',
  },
  progress: [50, 20, 250, -1],
  evidence: { honest: { seconds: 4 }, doubtful: {} },
  cancel: null,
  // The list may lag behind, so what is not in it may still be there.
  lookUp: { lost: 'found, succeeded', absent: 'unclear' },
};

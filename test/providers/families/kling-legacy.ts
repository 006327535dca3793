// How Kling’s flat API ends under every misfortune.
import { videoJob } from '../stand-in.ts';
import type { Family } from './family.ts';

const { order } = videoJob();

export const FAMILY: Family = {
  adapter: 'kling',
  family: 'kling',
  path: '/kling',
  job: videoJob({ upstreamModel: 'kling-v2-6', order: { ...order, resolution: '1080p', audio: true } }),
  endings: {
    '': 'video/mp4',
    'submit=500': 'transient, unknown',
    'outcome=fail reason=internal': 'failed: transient',
    'outcome=fail reason=invalid': 'failed: invalid',
    'outcome=fail reason=quota': 'failed: quota',
    'outcome=fail reason=concurrency': 'failed: concurrency',
    'outcome=fail reason=moderation': 'failed: moderation',
    'outcome=moderated': 'failed: moderation',
    // A job that expired is gone: the vendor has no word for it, and none for a cancelled one.
    'outcome=expire': 'expired, refused',
    'outcome=cancelled': 'failed: transient',
    'deliver=0': 'failed: invalid_response',
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
  evidence: { honest: { seconds: 5, vendorCost: 140_000_000n }, doubtful: { seconds: 5 } },
  cancel: null,
  lookUp: { lost: 'found, succeeded', absent: 'absent' },
};

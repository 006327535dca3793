// How Kling’s API since 3.0 ends under every misfortune.
import { videoJob } from '../stand-in.ts';
import { VIDEO_ENDINGS, type Family } from './family.ts';

const { order } = videoJob();

export const FAMILY: Family = {
  adapter: 'kling',
  family: 'kling',
  path: '/kling',
  job: videoJob({ upstreamModel: 'kling-3.0', order: { ...order, resolution: '720p', audio: false } }),
  endings: {
    ...VIDEO_ENDINGS,
    // A job that expired is gone: the vendor has no word for it, and none for a cancelled one.
    'outcome=expire': 'expired, refused',
    'outcome=cancelled': 'failed: transient',
    'deliver=2': 'video/mp4',
  },
  progress: [],
  evidence: { honest: { seconds: 5, vendorCost: 84_000_000n }, doubtful: { seconds: 5 } },
  cancel: null,
  lookUp: { lost: 'found, succeeded', absent: 'absent' },
};

// How vidu ends under every misfortune.
import { videoJob } from '../stand-in.ts';
import { VIDEO_ENDINGS, type Family } from './family.ts';

const { order } = videoJob();

export const FAMILY: Family = {
  adapter: 'vidu',
  family: 'vidu',
  path: '/vidu',
  job: videoJob({ upstreamModel: 'viduq3-pro', order: { ...order, resolution: '720p', audio: true } }),
  endings: {
    ...VIDEO_ENDINGS,
    'outcome=fail reason=internal text=leaky': 'failed: transient',
    'outcome=fail reason=moderation text=leaky': 'failed: moderation',
    // A job that expired is gone: the vendor has no word for it.
    'outcome=expire': 'expired, refused',
    'outcome=cancelled': 'cancelled',
    'deliver=2': 'video/mp4',
  },
  progress: [],
  evidence: { honest: { vendorCost: 100_000_000n }, doubtful: {} },
  cancel: {
    queued: 'cancelled, then cancelled',
    running: 'too_late, then running',
    done: 'too_late, then succeeded',
  },
  lookUp: null,
};

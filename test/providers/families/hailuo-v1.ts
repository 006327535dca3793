// How MiniMax’s first video API ends under every misfortune.
import { videoJob } from '../stand-in.ts';
import { VIDEO_ENDINGS, type Family } from './family.ts';

const { order } = videoJob();

export const FAMILY: Family = {
  adapter: 'hailuo',
  family: 'hailuo',
  path: '/minimax',
  job: videoJob({
    upstreamModel: 'MiniMax-Hailuo-2.3',
    order: { ...order, seconds: 6, resolution: '768p', ratio: null },
  }),
  endings: {
    ...VIDEO_ENDINGS,
    // The vendor has no status for an expired job and none for a cancelled one.
    'outcome=expire': 'failed: transient',
    'outcome=cancelled': 'failed: transient',
    'deliver=2': 'video/mp4',
  },
  progress: [],
  evidence: { honest: {}, doubtful: {} },
  cancel: {
    queued: 'too_late, then queued',
    running: 'too_late, then running',
    done: 'too_late, then succeeded',
  },
  lookUp: null,
};

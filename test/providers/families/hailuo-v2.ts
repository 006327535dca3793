// How MiniMax’s second video API ends under every misfortune.
import { videoJob } from '../stand-in.ts';
import { VIDEO_ENDINGS, type Family } from './family.ts';

const { order } = videoJob();

export const FAMILY: Family = {
  adapter: 'hailuo',
  family: 'hailuo',
  path: '/minimax',
  job: videoJob({ upstreamModel: 'MiniMax-H3', order: { ...order, resolution: '768p', audio: true } }),
  endings: {
    ...VIDEO_ENDINGS,
    'outcome=expire': 'expired',
    'outcome=cancelled': 'cancelled',
    'deliver=2': 'video/mp4',
  },
  progress: [],
  evidence: { honest: { seconds: 5, inputVideoSeconds: 0 }, doubtful: {} },
  cancel: {
    queued: 'cancelled, then cancelled',
    running: 'too_late, then running',
    done: 'too_late, then succeeded',
  },
  lookUp: null,
};

// How seedance ends under every misfortune.
import { videoJob } from '../stand-in.ts';
import { VIDEO_ENDINGS, type Family } from './family.ts';

const { order } = videoJob();

export const FAMILY: Family = {
  adapter: 'seedance',
  family: 'seedance',
  path: '/ark/api/v3',
  job: videoJob({
    upstreamModel: 'dreamina-seedance-2-0-260128',
    order: { ...order, resolution: '720p', audio: true },
  }),
  endings: {
    ...VIDEO_ENDINGS,
    'outcome=expire': 'expired',
    'outcome=cancelled': 'cancelled',
  },
  progress: [],
  // The tokens are 1280 × 720 pixels × 121 frames / 1024.
  evidence: { honest: { tokens: 108_900 }, doubtful: {} },
  cancel: {
    queued: 'cancelled, then cancelled',
    running: 'too_late, then running',
    done: 'too_late, then succeeded',
  },
  // A job that is not listed may still exist.
  lookUp: { lost: 'found, succeeded', absent: 'unclear' },
};

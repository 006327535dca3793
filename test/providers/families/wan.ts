// How wan ends under every misfortune.
import { videoJob } from '../stand-in.ts';
import { VIDEO_ENDINGS, type Family } from './family.ts';

const { order } = videoJob();

export const FAMILY: Family = {
  adapter: 'wan',
  family: 'wan',
  path: '/dashscope',
  job: videoJob({ upstreamModel: 'wan3.0-video', order: { ...order, resolution: '720p', audio: true } }),
  endings: {
    ...VIDEO_ENDINGS,
    // A job that expired is gone: the vendor has no other word for it than for one that it never had.
    'outcome=expire': 'expired, refused',
    'outcome=cancelled': 'cancelled',
  },
  progress: [],
  evidence: { honest: { seconds: 5 }, doubtful: {} },
  cancel: {
    queued: 'cancelled, then cancelled',
    running: 'too_late, then running',
    done: 'too_late, then succeeded',
  },
  // A job that is not listed may still exist.
  lookUp: { lost: 'found, succeeded', absent: 'unclear' },
};

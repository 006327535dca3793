// How sora ends under every misfortune.
import { videoJob } from '../stand-in.ts';
import { VIDEO_ENDINGS, type Family } from './family.ts';

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
    ...VIDEO_ENDINGS,
    'outcome=fail reason=internal text=leaky': 'failed: transient',
    'outcome=expire': 'expired',
    'outcome=cancelled': 'cancelled',
    'deliver=0': 'expired, refused',
    'deliver=2': 'video/mp4',
    'result=missing': 'expired, refused',
  },
  progress: [50, 20, 250, -1],
  evidence: { honest: { seconds: 4 }, doubtful: {} },
  cancel: null,
  // The list may lag behind, so what is not in it may still be there.
  lookUp: { lost: 'found, succeeded', absent: 'unclear' },
};

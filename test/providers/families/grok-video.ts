// How grok-video ends under every misfortune.
import { videoJob } from '../stand-in.ts';
import { VIDEO_ENDINGS, type Family } from './family.ts';

export const FAMILY: Family = {
  adapter: 'grok-video',
  family: 'grok',
  path: '/xai/v1',
  job: videoJob(),
  endings: {
    ...VIDEO_ENDINGS,
    'outcome=fail reason=concurrency': 'failed: transient',
    'outcome=expire': 'expired',
    'outcome=cancelled': 'failed: invalid',
  },
  progress: [50, 20, 250, -1],
  evidence: { honest: { seconds: 5, vendorCost: 50_000_000n }, doubtful: { seconds: 5 } },
  cancel: null,
  lookUp: null,
};

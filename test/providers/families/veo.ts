// How veo ends under every misfortune, on the Gemini API.
import { videoJob } from '../stand-in.ts';
import { VIDEO_ENDINGS, type Family } from './family.ts';

const { order } = videoJob();

export const FAMILY: Family = {
  adapter: 'veo',
  family: 'veo',
  path: '/google/v1beta',
  job: videoJob({
    upstreamModel: 'veo-3.1-generate-preview',
    order: { ...order, seconds: 8, resolution: '720p', audio: true },
  }),
  endings: {
    ...VIDEO_ENDINGS,
    'outcome=fail reason=internal text=leaky': 'failed: transient',
    // The vendor has one code for every limit, and its words say no more.
    'outcome=fail reason=concurrency': 'failed: rate',
    'outcome=fail reason=moderation text=leaky': 'failed: moderation',
    // An operation that expired is gone: the vendor has no word for it.
    'outcome=expire': 'expired, refused',
    'outcome=cancelled': 'cancelled',
    // The vendor withholds a video by a finished operation without any sample.
    'deliver=0': 'failed: moderation',
    'deliver=2': 'video/mp4',
  },
  progress: [],
  evidence: { honest: {}, doubtful: {} },
  cancel: null,
  lookUp: null,
};

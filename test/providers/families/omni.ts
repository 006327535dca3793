// How gemini-omni ends under every misfortune; its last answer holds the video itself.
import { videoJob } from '../stand-in.ts';
import { VIDEO_ENDINGS, type Family } from './family.ts';

const { order } = videoJob();

export const FAMILY: Family = {
  adapter: 'gemini-omni',
  family: 'gemini',
  path: '/google/v1beta',
  job: videoJob({
    upstreamModel: 'gemini-omni-1.1-flash',
    order: { ...order, seconds: 4, resolution: '720p', audio: true },
  }),
  endings: {
    ...VIDEO_ENDINGS,
    'outcome=fail reason=internal text=leaky': 'failed: transient',
    // The vendor has no code for it.
    'outcome=fail reason=invalid': 'failed: transient',
    'outcome=fail reason=moderation text=leaky': 'failed: moderation',
    'outcome=expire': 'expired, refused',
    'outcome=cancelled': 'cancelled',
    // The vendor withholds a video by a completed interaction without one.
    'deliver=0': 'failed: moderation',
    'deliver=2': 'video/mp4',
    'result=404': 'failed: invalid_response',
    'result=html': 'failed: invalid_response',
    'result=private': 'failed: invalid_response',
    'result=redirect_private': 'failed: invalid_response',
    'result=javascript': 'failed: invalid_response',
    'result=slow': 'transient, unknown',
    'result=endless': 'transient, unknown',
    'result=truncated': 'failed: invalid_response',
  },
  progress: [],
  // Four seconds of 5,792 tokens, at $17.50 a million.
  evidence: { honest: { vendorCost: 81_088_000n }, doubtful: {} },
  cancel: {
    queued: 'cancelled, then cancelled',
    running: 'cancelled, then cancelled',
    done: 'too_late, then succeeded',
  },
  lookUp: null,
};

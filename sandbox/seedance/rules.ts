// The rules that the sandbox keeps for Seedance, each with its source.

import { type Rule, rulesOf } from '../rule.ts';

const CREATE = 'BytePlus’ page on creating tasks (2026-10-02)';
const GUIDE = 'BytePlus’ guide of Seedance 2.5';
const SDK = 'volcengine-ark-runtime 5.0.54, content_generation.tasks';
const ALL_2 = 'seedance-2';
const ALL_1 = 'seedance-1';

export const SEEDANCE_RULES: readonly Rule[] = [
  ...rulesOf('', [
    ['prompt', 'no limit is kept here; the gateway’s 4,000 characters are its own', null],
    ['ratios', '16:9, 4:3, 1:1, 3:4, 9:16, 21:9, and adaptive from 2.0 on or with a frame', CREATE],
    ['image files', 'at most 30 MB, 300 to 6,000 pixels a side, ratio at most 2.5', CREATE],
    ['other', 'watermark', SDK],
    ['other', 'safety_identifier comes back in tasks and lists', SDK],
    ['other', 'safety_identifier of at most 64 characters', null],
  ]),
  ...rulesOf(ALL_2, [
    ['durations', '4 to 15 seconds, 2.5 to 30; -1 lets the model choose', CREATE],
    ['resolutions', '480p and 720p; 2.0 and 2.5 also 1080p', CREATE],
    ['sound', 'generate_audio, true unless said', CREATE],
    ['input images', 'a first and a last frame, or 9 references', CREATE],
    ['input videos', 'at most 3', CREATE],
    ['input videos', 'seconds of each and of all', null],
    ['combinations', 'frames and references exclude one another', CREATE],
    ['seed', 'refused; other clients send it, so one real call has to decide', CREATE],
  ]),
  ...rulesOf('seedance-2-5', [
    ['input images', 'at most 30 references, and 10 videos', GUIDE],
    ['combinations', 'with a frame the ratio has to be adaptive', GUIDE],
    ['other', 'with videos omni_reference_task_type says reference, or an edit may be meant', GUIDE],
    ['other', '1080p frames of 1920 × 1080, 1088 in the gateway’s estimate', null],
  ]),
  ...rulesOf(ALL_1, [
    ['durations', '2 to 12 seconds', CREATE],
    ['resolutions', '480p, 720p, 1080p', CREATE],
    ['input images', 'a first frame, 1.0 pro also a last one', CREATE],
    ['seed', '-1 to 2,147,483,647', SDK],
  ]),
];

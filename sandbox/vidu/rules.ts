// The rules that the sandbox keeps for Vidu, each with its source.

import { type Rule, rulesOf } from '../rule.ts';

const PAGES = 'Vidu’s API pages (platform.vidu.com)';

export const VIDU_RULES: readonly Rule[] = [
  ...rulesOf('', [
    ['prompt', 'at most 5,000 characters', PAGES],
    ['ratios', '16:9, 9:16, 3:4, 4:3, 1:1; unwanted beside frames', PAGES],
    ['sound', 'audio, true unless said', PAGES],
    ['seed', 'a whole number', PAGES],
    ['other', 'watermark; off_peak, which the gateway never asks for', PAGES],
    ['image files', 'ratio at most 4', PAGES],
  ]),
  ...rulesOf('viduq3', [
    ['durations', '1 to 16 seconds', PAGES],
    ['resolutions', '540p, 720p, 1080p; mix and pro-fast without 540p', PAGES],
    ['input images', 'by endpoint: one frame, two frames, or 1 to 7 references', PAGES],
  ]),
  ...rulesOf('viduq3-turbo viduq3-mix', [['combinations', 'references have the same durations', null]]),
  ...rulesOf('viduq4-preview', [
    ['durations', '3 to 16 seconds', null],
    ['resolutions', '540p, 720p, 1080p; 2K and 4K are not sold here', null],
    ['input images', 'a first frame, or 1 to 15 references', null],
  ]),
];

// The rules that the sandbox keeps for Wan, each with its source.

import { type Rule, rulesOf } from '../rule.ts';

const PAGES = 'Alibaba’s pages of Model Studio';
const AI_SDK = '@ai-sdk/alibaba 2.0.58, alibaba-video-model';
const SDK = 'dashscope 2.0.2';

export const WAN_RULES: readonly Rule[] = [
  ...rulesOf('', [
    ['prompt', 'at most 5,000 characters; the gateway sells fewer', null],
    ['seed', '0 to 2,147,483,647', PAGES],
    ['other', 'prompt_extend and watermark', AI_SDK],
  ]),
  ...rulesOf('wan3.0', [
    ['durations', '2 to 30 seconds, together with those of input videos', PAGES],
    ['resolutions', '480P, 720P, 1080P', AI_SDK],
    ['ratios', '16:9, 9:16, 1:1, 4:3, 3:4, adaptive', AI_SDK],
    ['sound', 'audio, true unless said', AI_SDK],
    ['input images', 'a first frame, a last one beside it, or 10 references', AI_SDK],
    ['input videos', 'at most 5', PAGES],
    ['combinations', 'frames and references exclude one another', AI_SDK],
  ]),
  ...rulesOf('wan2.7', [
    ['durations', '2 to 15 seconds', PAGES],
    ['resolutions', '720P and 1080P', AI_SDK],
    ['ratios', '16:9, 9:16, 1:1, 4:3, 3:4; none for i2v', AI_SDK],
    ['sound', 'always, and no field for it', AI_SDK],
    ['negative prompt', 'at most 500 characters', AI_SDK],
    ['input images', 'i2v: a first frame, and a last one beside it; r2v: references', SDK],
    ['image files', 'at most 20 MB, 240 to 8,000 pixels a side, ratio at most 8', PAGES],
  ]),
  ...rulesOf('wan2.7-r2v', [
    ['combinations', 'a first frame beside the references', AI_SDK],
    ['input images', 'at most 5 media together', null],
  ]),
];

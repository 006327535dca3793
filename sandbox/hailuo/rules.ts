// The rules that the sandbox keeps for MiniMax's videos, each with its source.

import { type Rule, rulesOf } from '../rule.ts';

const V1_PAGE = 'MiniMax’s page on video generation (v1)';
const CLI = 'mmx-cli 1.0.27';
const AI_SDK = '@ai-sdk/minimax 3.0.45, minimax-video-model';
const NODE = 'ComfyUI’s page of its H3 node (docs.comfy.org)';

export const HAILUO_RULES: readonly Rule[] = [
  ...rulesOf('MiniMax-Hailuo', [
    ['prompt', 'at most 2,000 characters', V1_PAGE],
    ['durations', '6 or 10 seconds', V1_PAGE],
    ['resolutions', '768P and 1080P, Hailuo 02 also 512P', V1_PAGE],
    ['combinations', '1080P has 6 seconds; 512P needs a first frame', V1_PAGE],
    ['input images', 'a first frame, which 2.3 Fast demands; Hailuo 02 also a last one', CLI],
    ['other', 'prompt_optimizer and aigc_watermark', V1_PAGE],
    ['image files', 'at most 20 MB, 300 pixels a side or more, ratio at most 2.5', V1_PAGE],
  ]),
  ...rulesOf('MiniMax-Hailuo-02', [['combinations', 'no last frame at 512P', null]]),
  ...rulesOf('MiniMax-H3', [
    ['prompt', 'at most 7,000 characters', 'Alibaba’s page of MiniMax-H3 (help.aliyun.com)'],
    ['durations', '4 to 15 seconds, H3-Max 5 to 15', `${CLI}; ${NODE}`],
    ['resolutions', '768P and 2K, H3-Max 480P and 768P', AI_SDK],
    ['ratios', 'seven, adaptive among them; text alone needs another one', AI_SDK],
    ['sound', 'always, and no field for it', AI_SDK],
    ['other', 'aigc_watermark, of H3 alone', NODE],
    ['input images', 'a first frame and a last one beside it', AI_SDK],
    ['image files', 'at most 30 MB', `${CLI}, README`],
    ['image files', '256 pixels a side or more, ratio at most 2.5', NODE],
    ['combinations', 'frames and references exclude one another', AI_SDK],
    ['combinations', 'H3: a last frame without a first one (@ai-sdk/minimax refuses it)', CLI],
  ]),
  ...rulesOf('MiniMax-H3', [
    ['input images', 'at most 9 references; H3-Max takes none', AI_SDK],
    ['input videos', 'at most 3; H3-Max takes none', AI_SDK],
    ['input videos', 'at most 15 seconds in all of them together', null],
  ]),
];

// The rules that the sandbox keeps for xAI's videos, each with its source.

import { type Rule, rulesOf } from '../rule.ts';

const PAGE = 'docs.x.ai, “Video Generation”';
const SDK = 'xai-sdk 1.21.0, sync.video and types.video';
const AI_SDK = '@ai-sdk/xai 5.0.12, xai-video-model';

export const GROK_RULES: readonly Rule[] = [
  ...rulesOf('', [
    ['prompt', 'at most 4,096 characters', PAGE],
    ['durations', '1 to 15 whole seconds', SDK],
    ['ratios', '16:9, 9:16, 1:1, 4:3, 3:4, 3:2, 2:3', SDK],
    ['ratios', '21:9 and 5:2, which the enumeration of xai-sdk does not have', PAGE],
    ['sound', 'generate_audio, true unless said', SDK],
    ['seed', 'there is none', AI_SDK],
  ]),
  ...rulesOf('grok-imagine-video', [
    ['resolutions', '480p and 720p; 1080p since 1.5', AI_SDK],
    ['input images', 'a first frame, or at most 7 references; 1.5 lite takes a first frame alone', AI_SDK],
    ['combinations', 'in 1.5 a first frame beside references, and a last frame without a first one', SDK],
    ['combinations', 'with references at most 720p, and at most 10 seconds before 1.5', PAGE],
  ]),
];

// The rules that the sandbox keeps for OpenAI's images and videos, each with its source.

import { type Rule, rulesOf } from '../rule.ts';

const SDK = 'openai 7.57.0 (npm), resources/images';
const VIDEOS = 'openai 7.57.0 (npm), resources/videos';
const GUIDE = 'OpenAI’s guide on images';

export const OPENAI_RULES: readonly Rule[] = [
  ...rulesOf('gpt-image-2', [
    ['prompt', 'at most 32,000 characters', SDK],
    ['images made', '1 to 10', SDK],
    ['resolutions', 'any size of 655,360 to 8,294,400 pixels, edges multiples of 16 up to 3,840', GUIDE],
    ['ratios', 'the longer edge at most three times the shorter one', GUIDE],
    ['input images', 'at most 16', SDK],
  ]),
  ...rulesOf('gpt-image-2.5-flare', [
    ['resolutions', 'those of gpt-image-2', null],
    ['quality', 'low, medium, high, xhigh, max; low and medium are sold', SDK],
  ]),
  ...rulesOf('sora-2', [
    ['prompt', 'at most 32,000 characters', VIDEOS],
    ['durations', '4, 8 or 12 seconds, written as a text', VIDEOS],
    ['resolutions', '720p; pro also 1024p and 1080p', VIDEOS],
    ['ratios', '16:9 and 9:16', VIDEOS],
    ['sound', 'always, and no field for it', VIDEOS],
    ['input images', 'a first frame of exactly the size of the video', GUIDE],
  ]),
];

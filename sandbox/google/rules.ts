// The rules that the sandbox keeps for Google's images and videos, each with its source.

import { type Rule, rulesOf } from '../rule.ts';

const AI_SDK = '@ai-sdk/google 4.0.121';
const PAGE = 'Google’s page on image generation with Gemini';
const VEO = 'Google’s pages on Veo, of the Gemini API and of Vertex';
const SDK = 'google-genai 3.4.0, types';

export const GOOGLE_RULES: readonly Rule[] = [
  ...rulesOf('gemini', [
    ['prompt', 'no limit is kept here; the gateway’s 8,000 characters are its own', null],
    ['images made', 'one for each request; the gateway makes up to 4 requests', AI_SDK],
    ['resolutions', '1K, 2K, 4K with a capital K; flash-lite 1K alone', PAGE],
    ['ratios', 'ten, and 1:4, 4:1, 1:8, 8:1 of the flash models', PAGE],
    ['input images', 'at most 14', null],
  ]),
  ...rulesOf('veo-3.1', [
    ['prompt', 'at most 20,000 characters; the gateway sells 4,000', null],
    ['durations', '4, 6 or 8 seconds', VEO],
    ['resolutions', '720p, 1080p, 4k; lite without 4k', VEO],
    ['ratios', '16:9 and 9:16', VEO],
    ['sound', 'generateAudio on Vertex alone; the Gemini API always makes sound', SDK],
    ['input images', 'a first frame, a last one beside it, or 3 references', VEO],
    ['combinations', '8 seconds at 1080p and 4k, and with references', VEO],
    ['negative prompt', 'a text', SDK],
    ['negative prompt', 'at most 1,000 characters, a limit of the gateway', null],
  ]),
  ...rulesOf('veo-3.1-lite', [['input images', 'a last frame, and no references', null]]),
  ...rulesOf('veo-3.1-fast', [['input images', 'references', null]]),
];

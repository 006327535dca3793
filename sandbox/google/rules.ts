// The rules that the sandbox keeps for Google's images and videos, each with its source.

import { type Rule, rulesOf } from '../rule.ts';

const AI_SDK = '@ai-sdk/google 4.0.121';
const PAGE = 'Google’s page on image generation with Gemini';
const VEO = 'Google’s pages on Veo, of the Gemini API and of Vertex';
const SDK = 'google-genai 3.4.0, types';
const INTERACTIONS = '@google/genai 3.1.0, types of interactions';
const LIVE = '@tanstack/ai-gemini, whose authors asked the API on 2026-07-02';
const PRICES = 'Google’s price list, as runware.ai and evolink.ai quote it';
const OMNI_PAGE = 'Google’s page on Gemini Omni Flash';

export const GOOGLE_RULES: readonly Rule[] = [
  ...rulesOf('gemini-3 gemini-nano', [
    ['prompt', 'no limit is kept here; the gateway’s 8,000 characters are its own', null],
    ['images made', 'one for each request; the gateway makes up to 4 requests', AI_SDK],
    ['resolutions', '1K, 2K, 4K with a capital K; flash-lite 1K alone', PAGE],
    ['ratios', 'ten, and 1:4, 4:1, 1:8, 8:1 of the flash models', PAGE],
    ['input images', 'at most 14', null],
  ]),
  ...rulesOf('gemini-omni', [
    ['prompt', 'at most 20,000 characters; the gateway sells 4,000', null],
    ['durations', '3 to 10 seconds, ordered as a text such as 8s; 10 where none is', LIVE],
    ['resolutions', '360p, 720p, 1080p, 4k; the gateway sells no 4k', INTERACTIONS],
    ['ratios', '16:9 and 9:16', INTERACTIONS],
    ['sound', 'always', OMNI_PAGE],
    ['input images', 'a first frame, or references', INTERACTIONS],
    ['input images', 'at most 10; the gateway sells 5', OMNI_PAGE],
    [
      'other',
      'at most 57,920 tokens in an answer of 10 seconds at 720p, so 5,792 for each second',
      OMNI_PAGE,
    ],
    ['other', '$17.50 for a million tokens of video, 9 for other output, 1.50 for input', PRICES],
    ['other', 'a third of the tokens at 360p, half more at 1080p, three times as many at 4k', null],
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

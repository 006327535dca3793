// The rules that the sandbox keeps for Kling, each with its source.

import { type Rule, rulesOf } from '../rule.ts';

const PAGES = 'Kling’s API pages with live probes of 2026-09-20 (aself101/kling-api)';
const MAP = 'Kling’s capability map';
const FILES = 'Kling’s page on image to video';
const V2 = 'kling-v2-5-turbo kling-v2-6';
const V3 = 'kling-3.0';

export const KLING_RULES: readonly Rule[] = [
  ...rulesOf(V2, [
    ['prompt', 'at most 2,500 characters', PAGES],
    ['negative prompt', 'at most 2,500 characters', PAGES],
    ['durations', '5 or 10 seconds, written as a text', PAGES],
    ['resolutions', 'mode std for 720p, pro for 1080p', PAGES],
    ['ratios', '16:9, 9:16, 1:1; none beside an image', PAGES],
    ['input images', 'a first frame, and a last one beside it', PAGES],
  ]),
  ...rulesOf('kling-v2-5-turbo', [['combinations', 'a last frame needs the mode pro', MAP]]),
  ...rulesOf('kling-v2-6', [
    ['sound', 'only in the mode pro', PAGES],
    ['combinations', 'a last frame needs the mode pro and no sound', MAP],
  ]),
  ...rulesOf(V3, [
    ['prompt', '2,500 characters, kling-3.0 itself 3,072', PAGES],
    ['durations', '3 to 15 whole seconds', PAGES],
    ['resolutions', '720p, 1080p, and 4k but for the turbo model', PAGES],
    ['ratios', '16:9, 9:16, 1:1', PAGES],
    ['sound', 'native or off; the turbo model always has sound', PAGES],
    ['input images', 'a first frame, and a last one but for the turbo model', PAGES],
    ['other', 'pairs of access key and secret key are refused (401, code 1002)', PAGES],
  ]),
  ...rulesOf('kling-3.0-omni', [
    ['input images', 'at most 7 references', null],
    ['combinations', 'a first frame beside references', 'ComfyUI’s node for Kling Omni (docs.comfy.org)'],
    ['input videos', 'one; with a feature video multi_shot has to be true', PAGES],
    ['combinations', 'beside a video at most 4 images, no sound, no 4k', PAGES],
  ]),
  ...rulesOf('', [
    ['image files', 'JPEG or PNG, at most 10 MB, 300 pixels a side or more, ratio at most 2.5', FILES],
  ]),
];

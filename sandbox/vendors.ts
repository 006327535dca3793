// The table of all vendor APIs that the sandbox plays.

import { geminiImages } from './google/gemini-images.ts';
import { geminiOmni } from './google/omni.ts';
import { veo } from './google/veo.ts';
import { veoVertex } from './google/veo-vertex.ts';
import { grokErrorFormat } from './grok/error-format.ts';
import { grokVideo } from './grok/video.ts';
import { hailuoV1 } from './hailuo/v1.ts';
import { hailuoV2 } from './hailuo/v2.ts';
import { kling } from './kling/kling.ts';
import { klingLegacy } from './kling/legacy.ts';
import { chatApi } from './openai/chat.ts';
import { openaiErrorFormat } from './openai/error-format.ts';
import { openaiImages } from './openai/images.ts';
import { sora } from './openai/sora.ts';
import { seedance } from './seedance/seedance.ts';
import type { VendorApi } from './vendor-api.ts';
import { vidu } from './vidu/vidu.ts';
import { wan } from './wan/wan.ts';

/** Where no route matches, the first API whose prefix fits words the error. */
export const VENDOR_APIS: readonly VendorApi[] = [
  openaiImages,
  grokVideo,
  chatApi('openai', '/openai', openaiErrorFormat),
  // xAI offers OpenAI's chat API, but with error answers of its own.
  chatApi('xai', '/xai', grokErrorFormat),
  geminiImages,
  geminiOmni,
  vidu,
  klingLegacy,
  kling,
  hailuoV2,
  hailuoV1,
  seedance,
  wan,
  sora,
  veo,
  veoVertex,
];

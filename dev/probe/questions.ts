// What no document proves, as one request each: what the vendor answers decides.
import { authorizeByApiKey } from '../../providers/google/api-key.ts';
import { authorizeByBearer, type Authorize, type JsonObject } from '../../providers/http/json-api.ts';
import { membersOf, numberOf } from '../../providers/http/json-fields.ts';

export interface Question {
  family: string;
  /** A yes is what a taken request means. */
  text: string;
  path: string;
  json: JsonObject;
  /** The most that a taken request costs at the vendor, in dollars; null: unknown. */
  dollarsMax: number | null;
  /** What the answer says beyond that the request was taken. */
  read?: (json: unknown) => string;
}

/** What a question needs of its surroundings. */
export interface Materials {
  prompt: string;
  /** A data URI of 512 × 512 pixels. */
  image: string;
  /** The URL of a public video of three seconds or more; null: questions about videos are left out. */
  video: string | null;
}

/** How each family is asked; a bearer token unless said otherwise. */
export const AUTHORIZE: Readonly<Record<string, Authorize>> = {
  gemini: authorizeByApiKey,
  vidu: ({ key }) => ({ authorization: `Token ${key}` }),
};
export const authorizeOf = (family: string): Authorize => AUTHORIZE[family] ?? authorizeByBearer;

export function questionsOf(family: string, materials: Materials): Question[] {
  return allQuestions(materials).filter((question) => question.family === family);
}

function allQuestions({ prompt, image, video }: Materials): Question[] {
  const base64 = image.slice(image.indexOf(',') + 1);
  return [
    {
      family: 'seedance',
      text: 'Does Seedance 2.0 mini take a seed?',
      path: '/contents/generations/tasks',
      dollarsMax: 0.15,
      json: {
        model: 'dreamina-seedance-2-0-mini-260615',
        content: [{ type: 'text', text: prompt }],
        ...{ duration: 4, resolution: '480p', ratio: '16:9', generate_audio: false, seed: 7 },
      },
    },
    {
      family: 'kling',
      text: 'Does kling-v2-6 take a last frame in the mode std?',
      path: '/v1/videos/image2video',
      dollarsMax: 0.21,
      json: {
        model_name: 'kling-v2-6',
        ...{ prompt, duration: '5', mode: 'std', sound: 'off', image: base64, image_tail: base64 },
      },
    },
    ...(video === null ? [] : [featureVideo(prompt, video)]),
    {
      family: 'hailuo',
      text: 'Does MiniMax-H3-Max take reference images?',
      path: '/v2/video_generation',
      dollarsMax: 0.25,
      json: {
        model: 'MiniMax-H3-Max',
        content: [
          { type: 'text', text: prompt },
          { type: 'image_url', image_url: { url: image }, role: 'reference_image' },
        ],
        ...{ duration: 5, resolution: '480P', ratio: '16:9' },
      },
    },
    {
      family: 'grok',
      text: 'Does Grok take the ratio 21:9?',
      path: '/videos/generations',
      dollarsMax: 0.05,
      json: { model: 'grok-imagine-video', prompt, duration: 1, resolution: '480p', aspect_ratio: '21:9' },
    },
    ...['2K', '4K'].map((size) => bananaTokens(prompt, size)),
    {
      family: 'openai',
      text: 'Is gpt-image-2.6-flare served, and how many tokens has an image of it?',
      path: '/images/generations',
      dollarsMax: null,
      json: { model: 'gpt-image-2.6-flare', prompt, n: 1, size: '1024x1024', quality: 'low' },
      read: (json) => `${numberOf(membersOf(membersOf(json)['usage'])['output_tokens'])} output tokens`,
    },
    ...['2K', '4K'].map((resolution) => viduCredits(prompt, resolution)),
  ];
}

function featureVideo(prompt: string, url: string): Question {
  return {
    family: 'kling',
    text: 'Does kling-3.0-omni take a feature video without multi_shot?',
    path: '/omni-video/kling-3.0-omni',
    dollarsMax: 0.38,
    json: {
      contents: [
        { type: 'prompt', text: prompt },
        { type: 'feature_video', url },
      ],
      settings: { duration: 3, resolution: '720p', audio: 'off', multi_shot: false },
    },
  };
}

function bananaTokens(prompt: string, imageSize: string): Question {
  return {
    family: 'gemini',
    text: `How many tokens has a ${imageSize} image of gemini-nano-banana-2.1?`,
    path: '/models/gemini-nano-banana-2.1:generateContent',
    dollarsMax: 0.1,
    json: {
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '1:1', imageSize } },
    },
    read: (json) => {
      const tokens = numberOf(membersOf(membersOf(json)['usageMetadata'])['candidatesTokenCount']);
      return tokens === null
        ? 'tokens not reported'
        : `${tokens} tokens, at $30 a million $${(tokens * 30) / 1e6}`;
    },
  };
}

function viduCredits(prompt: string, resolution: string): Question {
  return {
    family: 'vidu',
    text: `What does viduq4-preview cost in ${resolution}?`,
    path: '/ent/v2/text2video',
    dollarsMax: null,
    json: { model: 'viduq4-preview', prompt, duration: 3, resolution, audio: false, off_peak: false },
    read: (json) => `${numberOf(membersOf(json)['credits'])} credits of $0.005 for 3 seconds`,
  };
}

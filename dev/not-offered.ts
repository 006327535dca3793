// What vendors have and the gateway does not sell, each with the reason; part of docs/models.md.

export const NOT_OFFERED: readonly (readonly [what: string, why: string])[] = [
  ['Kling 4.0 and 4.0 Flash', 'path and body are unproven: only resellers sell them so far'],
  [
    'Gemini Omni (1.1 and 1.2 flash)',
    '@google/genai 3.1.0 has the Interactions API (v1), no adapter speaks it yet; its seconds follow the prompt',
  ],
  [
    'HappyHorse 1.0 and 1.1',
    'neither dashscope 2.0.2 nor @ai-sdk/alibaba 2.0.58 names them; their limits are known from other services alone',
  ],
  [
    'wan2.7-r2v with reference videos, wan2.7-videoedit',
    'how the seconds of their videos are billed is unproven',
  ],
  ['references of MiniMax-H3-Max', '@ai-sdk/minimax 3.0.45 refuses them, although price lists have them'],
  ['gpt-image-2.6', 'no price of it is proven'],
  ['Seedance 2.0 in 4k, Vidu Q4 in 2K and 4K', 'pixels or prices are unproven'],
  ['keyframes (Grok 1.5)', 'xai-sdk 1.21.0 has them; an order has no place for their times yet'],
  [
    'cheap queues (off_peak of Vidu, flex of Seedance 1.x)',
    'a job may wait for two days, a task lives an hour',
  ],
  ['a mark on Kling’s videos', 'the vendor delivers the unmarked video beside the marked one'],
  ['audio and voices as references', 'nothing of an order carries sound yet'],
];

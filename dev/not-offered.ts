// What vendors have and the gateway does not sell, each with the reason; part of docs/models.md.

export const NOT_OFFERED: readonly (readonly [what: string, why: string])[] = [
  ['Kling 4.0 and 4.0 Flash', 'path and body are unproven: only resellers sell them so far'],
  [
    'Gemini Omni 1.2 flash',
    'Google’s page has its lengths (3 to 15 seconds), no page that we know has the price of a second of it',
  ],
  [
    'Gemini Omni 1.1 in 4k, with a last frame, editing and extending videos',
    'the price of 4k follows from those of resellers alone; how a last frame is sent, and what an input video ' +
      'costs at each resolution, is unproven',
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

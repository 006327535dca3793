// What the AI SDK's providers of video models order at the sandbox, and what it has to have understood.

import { createAlibaba } from '@ai-sdk/alibaba';
import { createByteDance } from '@ai-sdk/bytedance';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createMiniMax } from '@ai-sdk/minimax';
import { createXai } from '@ai-sdk/xai';
import type { experimental_generateVideo as generateVideo } from 'ai';
import type { Json } from '../support.ts';

type Settings = Parameters<typeof generateVideo>[0];
type Options = Omit<Settings, 'model' | 'prompt'>;

export interface Order {
  title: string;
  /** Name of the model, as its vendor has it. */
  model: string;
  options: Options;
  /** What images are sent for; absent: none are. */
  images?: 'first_frame' | 'frames' | 'references';
  /** What the sandbox has to have understood. */
  ordered: Json;
}

export interface Client {
  title: string;
  /** What the provider leaves out of an order from one image, and the sandbox asks for. */
  leavesOut?: string;
  /** Whether the provider polls by itself. */
  hasOwnPoll?: boolean;
  modelAt: (sandboxUrl: string, model: string) => Settings['model'];
  orders: readonly Order[];
}

const KEY = 'sk-test';

export const CLIENTS: readonly Client[] = [
  {
    title: '@ai-sdk/xai',
    modelAt: (url, model) => createXai({ baseURL: `${url}/xai/v1`, apiKey: KEY }).video(model),
    orders: [
      {
        title: 'from words',
        model: 'grok-imagine-video',
        options: { duration: 3, aspectRatio: '3:2', resolution: '1280x720' },
        ordered: { duration: 3, aspectRatio: '3:2', resolution: '720p', inputImages: 0 },
      },
      {
        title: 'from an image, without sound',
        model: 'grok-imagine-video-1.5',
        options: { duration: 2, resolution: '1920x1080', generateAudio: false },
        images: 'first_frame',
        ordered: { duration: 2, resolution: '1080p', inputImages: 1, generateAudio: false },
      },
      {
        title: 'between two frames',
        model: 'grok-imagine-video-1.5',
        options: { duration: 2, resolution: '854x480' },
        images: 'frames',
        ordered: { resolution: '480p', inputImages: 2 },
      },
      {
        title: 'with references',
        model: 'grok-imagine-video',
        options: { duration: 2, resolution: '854x480' },
        images: 'references',
        ordered: { resolution: '480p', inputImages: 2 },
      },
    ],
  },
  {
    title: '@ai-sdk/minimax',
    modelAt: (url, model) => createMiniMax({ videoBaseURL: `${url}/minimax`, apiKey: KEY }).video(model),
    orders: [
      {
        title: 'from words',
        model: 'MiniMax-H3',
        options: { duration: 4, aspectRatio: '4:3', resolution: '1024x768' },
        ordered: { seconds: 4, ratio: '4:3', resolution: '768P' },
      },
      {
        title: 'from an image',
        model: 'MiniMax-H3-Max',
        options: { duration: 5 },
        images: 'first_frame',
        ordered: { seconds: 5, resolution: '768P' },
      },
      {
        title: 'between two frames',
        model: 'MiniMax-H3',
        options: { duration: 5, resolution: '2560x1440' },
        images: 'frames',
        ordered: { seconds: 5, resolution: '2K', inputImages: 2 },
      },
      {
        title: 'with references',
        model: 'MiniMax-H3',
        options: { duration: 5, aspectRatio: '16:9' },
        images: 'references',
        ordered: { seconds: 5, resolution: '2K', inputImages: 2 },
      },
    ],
  },
  {
    title: '@ai-sdk/alibaba',
    modelAt: (url, model) => createAlibaba({ videoBaseURL: `${url}/dashscope`, apiKey: KEY }).video(model),
    orders: [
      {
        title: 'from words',
        model: 'wan3.0-video',
        options: { duration: 2, aspectRatio: '4:3', resolution: '832x480', generateAudio: false, seed: 7 },
        ordered: { duration: 2, ratio: '4:3', resolution: '480P' },
      },
      {
        title: 'from an image',
        model: 'wan3.0-video',
        options: { duration: 2, resolution: '1280x720' },
        images: 'first_frame',
        ordered: { duration: 2, resolution: '720P' },
      },
      {
        title: 'between two frames',
        model: 'wan3.0-video-prime',
        options: { duration: 2, resolution: '1280x720' },
        images: 'frames',
        ordered: { model: 'wan3.0-video-prime', duration: 2, resolution: '720P' },
      },
      {
        title: 'with references',
        model: 'wan2.7-r2v',
        options: { duration: 2, resolution: '1920x1080', aspectRatio: '16:9' },
        images: 'references',
        ordered: { model: 'wan2.7-r2v', duration: 2, resolution: '1080P' },
      },
    ],
  },
  {
    title: '@ai-sdk/bytedance',
    leavesOut: 'role',
    hasOwnPoll: true,
    modelAt: (url, model) => createByteDance({ baseURL: `${url}/ark/api/v3`, apiKey: KEY }).video(model),
    orders: [
      {
        title: 'from words',
        model: 'dreamina-seedance-2-0-260128',
        options: { duration: 4, aspectRatio: '16:9', resolution: '864x496' },
        ordered: { duration: 4, ratio: '16:9', resolution: '480p' },
      },
      {
        title: 'between two frames',
        model: 'dreamina-seedance-2-0-mini-260615',
        options: { duration: 4, resolution: '864x496' },
        images: 'frames',
        ordered: { duration: 4, resolution: '480p', inputImages: 2 },
      },
      {
        title: 'with references',
        model: 'dreamina-seedance-2-5-260628',
        options: { duration: 4, aspectRatio: '16:9', resolution: '864x496' },
        images: 'references',
        ordered: { duration: 4, resolution: '480p', inputImages: 2 },
      },
    ],
  },
  {
    title: '@ai-sdk/google',
    modelAt: (url, model) =>
      createGoogleGenerativeAI({ baseURL: `${url}/google/v1beta`, apiKey: KEY }).video(model),
    orders: [
      {
        title: 'from words',
        model: 'veo-3.1-generate-001',
        options: { duration: 4, aspectRatio: '9:16', resolution: '1280x720' },
        ordered: { durationSeconds: 4, aspectRatio: '9:16', resolution: '720p' },
      },
      {
        title: 'from an image',
        model: 'veo-3.1-fast-generate-001',
        options: { duration: 8, aspectRatio: '16:9', resolution: '1920x1080' },
        images: 'first_frame',
        ordered: { durationSeconds: 8, resolution: '1080p' },
      },
      {
        title: 'between two frames',
        model: 'veo-3.1-generate-001',
        options: { duration: 8, aspectRatio: '16:9', resolution: '1280x720' },
        images: 'frames',
        ordered: { durationSeconds: 8, resolution: '720p', inputImages: 2 },
      },
      {
        title: 'with references',
        model: 'veo-3.1-generate-001',
        options: { duration: 8, aspectRatio: '16:9', resolution: '1280x720' },
        images: 'references',
        ordered: { durationSeconds: 8, resolution: '720p', inputImages: 2 },
      },
    ],
  },
];

// Descriptions of the routes under /v1 for images, videos, tasks, models and estimates.
import { IMAGE_BODY, V1_MODE_BODY, VIDEO_BODY } from '../../tasks/task-requests.ts';
import type { RouteDescription } from '../route-description.ts';
import { OPENAI_MEDIA_DESCRIPTIONS } from './openai-media.ts';
import {
  accepted,
  CREATION_REFUSALS,
  KEY_REFUSALS,
  ORDER_REFUSALS,
  WAITED_REFUSALS,
} from './order-refusals.ts';
import { dataOf } from '../../shapes/basics.ts';
import { MODEL, MODEL_LIST } from '../../shapes/models.ts';
import { CREATED_IMAGE_TASK, ESTIMATE, IMAGE_TASK, NEW_IMAGE_TASK, VIDEO_TASK } from '../../shapes/tasks.ts';

const readVideo: Omit<RouteDescription, 'id' | 'summary'> = {
  tag: 'Videos',
  responses: {
    200: {
      description: 'The task. `Retry-After` says when to look again, while it is running.',
      shape: dataOf(VIDEO_TASK),
      headers: { 'retry-after': 'sometimes' },
    },
  },
  refusals: ['task_not_found'],
};

export const V1_DESCRIPTIONS = {
  'POST /v1/images/generations': {
    id: 'createImage',
    tag: 'Images',
    summary: 'Create images',
    description: 'Sets the estimate aside and answers at once. Fewer images than ordered cost less.',
    body: {
      schema: IMAGE_BODY,
      examples: {
        'An image': { model: 'gpt-image-2', prompt: 'a lighthouse at dusk' },
        'Two wide images in 2K': {
          model: 'gpt-image-2',
          prompt: 'a lighthouse at dusk',
          size: '16:9',
          resolution: '2K',
          n: 2,
        },
        'After an image of yours': {
          model: 'gpt-image-2',
          prompt: 'the same, at night',
          image_urls: ['https://example.com/lighthouse.png'],
        },
      },
    },
    responses: {
      200: {
        description: 'Completed, with `Prefer: wait`: OpenAI’s answer and the task in one.',
        shape: CREATED_IMAGE_TASK,
      },
      202: { description: 'Accepted.', shape: NEW_IMAGE_TASK, headers: accepted },
    },
    refusals: [...CREATION_REFUSALS, ...KEY_REFUSALS, ...WAITED_REFUSALS],
  },
  ...OPENAI_MEDIA_DESCRIPTIONS,
  'GET /v1/images/tasks/:id': {
    id: 'readImageTask',
    tag: 'Images',
    summary: 'Read an image task',
    description: 'Image tasks made in the console are readable here too.',
    responses: {
      200: {
        description: 'The task. `Retry-After` says when to look again, while it is running.',
        shape: IMAGE_TASK,
        headers: { 'retry-after': 'sometimes' },
      },
    },
    refusals: ['task_not_found', 'storage_unavailable'],
  },
  'POST /v1/videos/generations': {
    id: 'createVideo',
    tag: 'Videos',
    summary: 'Create a video',
    description:
      'Sets the estimate aside and answers at once. What a model offers is told by GET /v1/models.',
    body: {
      schema: VIDEO_BODY,
      examples: {
        'Four seconds': {
          model: 'grok-imagine-video',
          prompt: 'waves against a pier',
          duration: 4,
          aspect_ratio: '16:9',
          metadata: { resolution: '480p' },
        },
        'From an image': {
          model: 'grok-imagine-video',
          prompt: 'the boat sails away',
          image_urls: ['https://example.com/boat.png'],
        },
      },
    },
    responses: {
      200: { description: 'Completed, with `Prefer: wait`.', shape: dataOf(VIDEO_TASK) },
      202: { description: 'Accepted.', shape: dataOf(VIDEO_TASK), headers: accepted },
    },
    refusals: [...CREATION_REFUSALS, ...KEY_REFUSALS, ...WAITED_REFUSALS],
  },
  'GET /v1/videos/tasks/:id': { id: 'readVideoTask', summary: 'Read a video task', ...readVideo },
  'GET /v1/videos/generations/:id': {
    id: 'readVideoGeneration',
    summary: 'Read a video task by its other path',
    ...readVideo,
  },
  'POST /v1/estimates': {
    id: 'estimate',
    tag: 'Models',
    summary: 'What a task would cost',
    description: 'Nothing is created or set aside. The body is that of the creation, with `mode`.',
    body: {
      schema: V1_MODE_BODY,
      examples: {
        'Two images': { mode: 'image', model: 'gpt-image-2', prompt: 'a lighthouse at dusk', n: 2 },
      },
    },
    responses: {
      200: {
        description: 'The price.',
        shape: dataOf(ESTIMATE),
        example: {
          data: {
            creditsEstimate: 8,
            billingMode: 'per_image',
            breakdown: [{ item: '1K image', quantity: 2, credits: 8 }],
          },
        },
      },
    },
    refusals: [...ORDER_REFUSALS, 'model_not_allowed'],
  },
  'GET /v1/models': {
    id: 'listModels',
    tag: 'Models',
    summary: 'List the models',
    description:
      'OpenAI’s list, as far as the scope of your key reaches, with what a program needs to choose: limits, options, defaults, prices and the orders they are for, and the seconds that tasks usually take.',
    responses: { 200: { description: 'The models.', shape: MODEL_LIST } },
  },
  'GET /v1/models/:id': {
    id: 'readModel',
    tag: 'Models',
    summary: 'Read a model',
    description: 'Slashes in an id may be sent as they are, or as `%2F`.',
    responses: { 200: { description: 'The model.', shape: MODEL } },
    refusals: ['model_not_found'],
  },
} as const satisfies Readonly<Record<string, RouteDescription>>;

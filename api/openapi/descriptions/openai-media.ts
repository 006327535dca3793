// Descriptions of the routes on which OpenAI's clients edit images and make videos.
import { EDIT_BODY, EDIT_FORM } from '../../tasks/image-edits.ts';
import {
  OPENAI_VIDEO_BODY,
  OPENAI_VIDEO_CONTENT_QUERY,
  OPENAI_VIDEO_FORM,
  OPENAI_VIDEO_LIST_QUERY,
} from '../../tasks/openai-videos.ts';
import type { RouteDescription } from '../route-description.ts';
import { DELETED_OPENAI_VIDEO, OPENAI_VIDEO, OPENAI_VIDEO_LIST } from '../../shapes/openai-videos.ts';
import { CREATED_IMAGE_TASK, NEW_IMAGE_TASK } from '../../shapes/tasks.ts';
import { describeFile } from './file-answers.ts';
import { accepted, CREATION_REFUSALS, KEY_REFUSALS, WAITED_REFUSALS } from './order-refusals.ts';

const media = {
  'video/mp4': 'The video.',
  'video/webm': 'The video.',
  'video/quicktime': 'The video.',
  'image/webp': 'The thumbnail.',
};

export const OPENAI_MEDIA_DESCRIPTIONS = {
  'POST /v1/images/edits': {
    id: 'editImage',
    tag: 'Images',
    summary: 'Create images after images of yours',
    description:
      'OpenAI’s form, or JSON. The same task as POST /v1/images/generations with `reference_images`, with any image model that takes input images. With `Prefer: wait` the answer is OpenAI’s. A `mask` is refused.',
    body: {
      schema: EDIT_BODY,
      form: EDIT_FORM,
      examples: {
        'After an image': {
          prompt: 'the same, at night',
          images: [{ image_url: 'https://example.com/lighthouse.png' }],
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
  'POST /v1/videos': {
    id: 'createOpenaiVideo',
    tag: 'Videos',
    summary: 'Create a video, as OpenAI’s clients do',
    description:
      'OpenAI’s form, or JSON, for every video model. The same task as POST /v1/videos/generations, read in OpenAI’s shape.',
    body: {
      schema: OPENAI_VIDEO_BODY,
      form: OPENAI_VIDEO_FORM,
      examples: {
        'Four seconds': {
          model: 'grok-imagine-video',
          prompt: 'waves against a pier',
          seconds: '4',
          size: '1280x720',
        },
      },
    },
    responses: {
      200: {
        description: 'The video. `Retry-After` says when to look again, unless it has ended.',
        shape: OPENAI_VIDEO,
        headers: { location: 'sometimes', 'retry-after': 'sometimes' },
      },
    },
    refusals: [...CREATION_REFUSALS, ...KEY_REFUSALS, ...WAITED_REFUSALS],
  },
  'GET /v1/videos': {
    id: 'listOpenaiVideos',
    tag: 'Videos',
    summary: 'List your videos, as OpenAI’s clients do',
    description: 'However they were ordered. Deleted ones are left out.',
    query: OPENAI_VIDEO_LIST_QUERY,
    responses: { 200: { description: 'A page of videos.', shape: OPENAI_VIDEO_LIST } },
  },
  'GET /v1/videos/:id': {
    id: 'readOpenaiVideo',
    tag: 'Videos',
    summary: 'Read a video, as OpenAI’s clients do',
    responses: {
      200: {
        description: 'The video. `Retry-After` says when to look again, while it is running.',
        shape: OPENAI_VIDEO,
        headers: { 'retry-after': 'sometimes' },
      },
    },
    refusals: ['task_not_found'],
  },
  'DELETE /v1/videos/:id': {
    id: 'deleteOpenaiVideo',
    tag: 'Videos',
    summary: 'Delete a video',
    description:
      'Its file is gone for good; the task stays in the console with what it cost. One that is running is cancelled first: 409 `task_not_ended` when that takes longer than a moment.',
    responses: { 200: { description: 'It is deleted.', shape: DELETED_OPENAI_VIDEO } },
    refusals: ['task_not_found', 'task_not_ended'],
  },
  'GET /v1/videos/:id/content': {
    id: 'downloadOpenaiVideo',
    tag: 'Videos',
    summary: 'Download a video',
    description: 'The bytes themselves. Ranges are served.',
    query: OPENAI_VIDEO_CONTENT_QUERY,
    requestHeaders: ['Range'],
    responses: describeFile(media),
    refusals: ['task_not_found', 'file_not_found', 'range_not_satisfiable', 'storage_unavailable'],
  },
} as const satisfies Readonly<Record<string, RouteDescription>>;

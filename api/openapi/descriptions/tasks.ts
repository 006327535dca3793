// Descriptions of the console's task routes.
import { TASK_LIST_QUERY } from '../../console/tasks.ts';
import { CONSOLE_MODE_BODY } from '../../tasks/task-requests.ts';
import type { ResponseDescription, RouteDescription } from '../route-description.ts';
import { dataOf, pageOf } from '../../shapes/basics.ts';
import { ESTIMATE, TASK, TASK_EVENT } from '../../shapes/tasks.ts';
import { z } from 'zod';
import { ABOUT } from '../../shapes/about.ts';
import { MODEL_LIST } from '../../shapes/models.ts';
import { CREATION_REFUSALS, ORDER_REFUSALS, WAITED_REFUSALS } from './order-refusals.ts';

const tag = 'Console: tasks';
const task = dataOf(TASK);
const accepted = {
  description: 'Accepted.',
  shape: task,
  headers: { location: 'always', 'retry-after': 'always' },
} as const satisfies ResponseDescription;

const EVENTS = [
  'Server-sent events for the user of the session. `event: task` carries the task as GET /api/tasks lists it, at',
  'every change of status, progress or cancellation; `event: balance` carries `balance`, `reserved` and',
  '`available`, first of all and at every change. A comment comes every 15 seconds. `Last-Event-ID` resumes:',
  'nothing that changed in between is missed, and a change may come twice. At most 4 streams of a user are open',
  'in one server.',
].join(' ');

export const TASK_DESCRIPTIONS = {
  'POST /api/tasks': {
    id: 'createTask',
    tag,
    summary: 'Create a task',
    description: 'Written to the task log first, then picked up by a worker.',
    body: {
      schema: CONSOLE_MODE_BODY,
      examples: {
        'An image': {
          mode: 'image',
          model: 'gpt-image-2',
          prompt: 'a lighthouse at dusk',
          resolution: '1K',
          size: '3:2',
        },
        'A video': {
          mode: 'video',
          model: 'grok-imagine-video',
          prompt: 'waves against a pier',
          duration: 4,
        },
      },
    },
    responses: { 200: { description: 'Completed, with `Prefer: wait`.', shape: task }, 202: accepted },
    refusals: [...CREATION_REFUSALS, ...WAITED_REFUSALS],
  },
  'GET /api/tasks': {
    id: 'listTasks',
    tag,
    summary: 'List your tasks',
    query: TASK_LIST_QUERY,
    responses: { 200: { description: 'A page of them.', shape: pageOf(TASK) } },
  },
  'GET /api/models': {
    id: 'listModelsInConsole',
    tag: 'Models',
    summary: 'List all models',
    responses: {
      200: {
        description: 'All models.',
        shape: MODEL_LIST,
      },
    },
  },
  'GET /api/console': {
    id: 'readAbout',
    tag: 'Console: session',
    summary: 'What a page may know before a login',
    responses: { 200: { description: 'Name, version, addresses.', shape: dataOf(ABOUT) } },
  },
  'GET /api/events': {
    id: 'streamEvents',
    tag,
    summary: 'Be told of changes as they happen',
    description: EVENTS,
    requestHeaders: ['LastEventId'],
    responses: {
      200: {
        description: 'A stream that ends with the session, or when this server stops.',
        media: { 'text/event-stream': 'Events `task` and `balance`, and comments in between.' },
      },
    },
  },
  'GET /api/tasks/:id': {
    id: 'readTask',
    tag,
    summary: 'Read a task',
    responses: {
      200: {
        description: 'The task. `Retry-After` says when to look again, while it is running.',
        shape: task,
        headers: { 'retry-after': 'sometimes' },
      },
    },
    refusals: ['task_not_found'],
  },
  'DELETE /api/tasks/:id': {
    id: 'cancelTask',
    tag,
    summary: 'Cancel a task',
    description: 'Waits up to three seconds. If the vendor was faster, the result is delivered and charged.',
    responses: {
      200: { description: 'It is cancelled, now or before.', shape: task },
      202: { description: 'The cancellation is still under way.', shape: task },
    },
    refusals: ['task_not_found', 'task_not_cancellable'],
  },
  'GET /api/tasks/:id/timeline': {
    id: 'readTimeline',
    tag,
    summary: 'What happened to a task, in order',
    responses: { 200: { description: 'The events, oldest first.', shape: dataOf(z.array(TASK_EVENT)) } },
    refusals: ['task_not_found'],
  },
  'POST /api/tasks/:id/retry': {
    id: 'retryTask',
    tag,
    summary: 'Retry a failed task',
    description:
      'The same task with its next attempt, at today’s price. 400 and 404 `model_not_found` where the model, or what was ordered of it, is no longer offered.',
    responses: { 202: accepted },
    refusals: [
      'invalid_value',
      'missing_field',
      'conflicting_params',
      'insufficient_credits',
      'task_not_found',
      'model_not_found',
      'task_not_retryable',
      'queue_full',
    ],
  },
  'POST /api/estimates': {
    id: 'estimateInConsole',
    tag,
    summary: 'What a task would cost',
    description: 'Nothing is created or set aside.',
    body: {
      schema: CONSOLE_MODE_BODY,
      examples: {
        'A video': {
          mode: 'video',
          model: 'grok-imagine-video',
          prompt: 'waves against a pier',
          duration: 4,
        },
      },
    },
    responses: { 200: { description: 'The price.', shape: dataOf(ESTIMATE) } },
    refusals: ORDER_REFUSALS,
  },
} as const satisfies Readonly<Record<string, RouteDescription>>;

// What is told about the console's task queue.
import { TASK_LIST_QUERY } from '../../console/tasks.ts';
import { CONSOLE_MODE_BODY } from '../../tasks/task-requests.ts';
import type { Answer, Operation } from '../operation.ts';
import { dataOf, pageOf } from '../../shapes/basics.ts';
import { ESTIMATE, TASK, TASK_EVENT } from '../../shapes/tasks.ts';
import { z } from 'zod';
import { CREATION_REFUSALS, ORDER_REFUSALS } from './v1.ts';

const tag = 'Console: tasks';
const task = dataOf(TASK);
const accepted: Answer = {
  description: 'Accepted.',
  shape: task,
  headers: { location: 'always', 'retry-after': 'always' },
};

export const TASK_OPERATIONS = {
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
    answers: { 202: accepted },
    refusals: CREATION_REFUSALS,
  },
  'GET /api/tasks': {
    id: 'listTasks',
    tag,
    summary: 'List your tasks',
    query: TASK_LIST_QUERY,
    answers: { 200: { description: 'A page of them.', shape: pageOf(TASK) } },
  },
  'GET /api/tasks/:id': {
    id: 'readTask',
    tag,
    summary: 'Read a task',
    answers: {
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
    answers: {
      200: { description: 'It is cancelled, now or before.', shape: task },
      202: { description: 'The cancellation is still under way.', shape: task },
    },
    refusals: ['task_not_found', 'task_not_cancellable'],
  },
  'GET /api/tasks/:id/timeline': {
    id: 'readTimeline',
    tag,
    summary: 'What happened to a task, in order',
    answers: { 200: { description: 'The events, oldest first.', shape: dataOf(z.array(TASK_EVENT)) } },
    refusals: ['task_not_found'],
  },
  'POST /api/tasks/:id/retry': {
    id: 'retryTask',
    tag,
    summary: 'Retry a failed task',
    description: 'The same task with its next attempt, at today’s price.',
    answers: { 202: accepted },
    refusals: [...CREATION_REFUSALS, 'invalid_value', 'task_not_found', 'task_not_retryable'],
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
    answers: { 200: { description: 'The price.', shape: dataOf(ESTIMATE) } },
    refusals: ORDER_REFUSALS,
  },
} as const satisfies Readonly<Record<string, Operation>>;

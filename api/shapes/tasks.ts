// JSON of tasks: in the console, for administrators, on the image and video endpoints.
import { z } from 'zod';
import { TASK_EVENTS } from '../../domain/tasks.ts';
import { LEDGER_LINE } from './account.ts';
import { billingMode, credits, id, instant, mode, modelId, progress, status, unixSeconds } from './basics.ts';

const estimate = credits.describe('Set aside at most; what the task may cost.');
const charged = credits.describe('What it cost. 0 until it is completed, and if it fails or is cancelled.');
const refunded = credits.describe('What the operator gave back of the charge.');
const upstreamTaskId = z.string().nullable().describe('What the vendor calls it.');
const outputUrl = z
  .url()
  .nullable()
  .describe('Signed link to the first result. It expires; reading the task again renews it.');
const errorMessage = z.string().nullable().describe('Why it failed, masked.');
const requestPayload = z
  .record(z.string(), z.unknown())
  .describe('The request. Secrets, URLs, data URIs and tokens in it are masked; the prompt is yours to see.');

const keyId = id('key').nullable().describe('The key that ordered it; null: the console.');
const taskFields = {
  mode,
  model: modelId,
  status,
  progress,
  creditsEstimate: estimate,
  creditsCharged: charged,
};
const taskTimes = {
  attempt: z.int().min(1).describe('Rises with every retry.'),
  createdAt: instant,
  updatedAt: instant,
  startedAt: instant.nullable(),
  completedAt: instant.nullable().describe('When it ended, however it ended.'),
  cancelRequestedAt: instant.nullable(),
  resultExpiredAt: instant.nullable().describe('When its result was removed, because of its age.'),
};

const priceLines = z.array(
  z.strictObject({
    item: z.string(),
    quantity: z.number(),
    credits: credits.describe('Of the whole line.'),
  }),
);

export const TASK = z
  .strictObject({
    id: id('task'),
    keyId,
    ...taskFields,
    creditsRefunded: refunded,
    billingMode,
    breakdown: z
      .strictObject({
        ordered: priceLines.describe('The lines of the estimate.'),
        charged: priceLines.describe(
          'The lines of the charge, which sum up to it. Empty until it is completed.',
        ),
      })
      .describe('What the credits are for.'),
    upstreamTaskId,
    outputUrl,
    outputs: z.array(
      z.strictObject({
        url: z.url(),
        contentType: z.string(),
        previewUrl: z.url().nullable().describe('A small WebP of an image, where one could be made.'),
      }),
    ),
    outputText: z.string().nullable().describe('The result of a text task.'),
    errorMessage,
    errorCode: z.string().nullable(),
    requestPayload,
    ...taskTimes,
  })
  .meta({ id: 'Task', description: 'A task as the console shows it to its owner.' });
export type TaskView = z.output<typeof TASK>;

const masked = z.literal('[masked]').nullable();

export const FOREIGN_TASK = z
  .strictObject({
    id: id('task'),
    userId: id('usr'),
    keyId,
    ...taskFields,
    billingMode,
    prompt: masked,
    requestPayload: masked,
    upstreamTaskId: masked,
    outputUrl: masked,
    outputs: z.array(z.strictObject({ url: masked, contentType: z.string() })),
    outputText: masked,
    errorMessage: masked,
    errorCode: z.string().nullable(),
    ...taskTimes,
  })
  .meta({
    id: 'ForeignTask',
    description: 'Somebody’s task as administrators see it: what belongs to its owner is masked.',
  });
export type ForeignTaskView = z.output<typeof FOREIGN_TASK>;

export const TASK_EVENT = z
  .strictObject({
    at: instant,
    event: z.enum(TASK_EVENTS),
    attempt: z.int().min(1),
    detail: z.string().nullable(),
  })
  .meta({ id: 'TaskEvent', description: 'Something that happened to a task.' });
export type TaskEventView = z.output<typeof TASK_EVENT>;

export const FOREIGN_TASK_WITH_TIMELINE = z
  .strictObject({
    ...FOREIGN_TASK.shape,
    timeline: z.array(TASK_EVENT),
    creditsRefunded: refunded,
    ledger: z.array(LEDGER_LINE).describe('Its moves of the balance, oldest first.'),
  })
  .meta({ id: 'ForeignTaskWithTimeline', description: 'A task of any user, with what happened to it.' });

const imageFields = {
  id: id('task'),
  object: z.literal('generation.task'),
  model: modelId,
  status: z
    .enum(['queued', 'in_progress', 'completed', 'failed'])
    .describe('A cancelled task reads as failed here, with the code `task_cancelled`.'),
  progress,
  creditsEstimate: estimate,
  created_at: unixSeconds,
};

export const NEW_IMAGE_TASK = z
  .strictObject(imageFields)
  .meta({ id: 'NewImageTask', description: 'An image task that was just accepted.' });

export const IMAGE_TASK = z
  .strictObject({
    ...imageFields,
    creditsCharged: charged,
    upstreamTaskId,
    outputUrl,
    result: z
      .strictObject({
        data: z.array(
          z.strictObject({
            url: z.url(),
            b64_json: z
              .string()
              .optional()
              .describe('The image itself, if it was ordered so; up to 10 MiB of images in one answer.'),
          }),
        ),
      })
      .optional()
      .describe('Once it is completed.'),
    errorMessage: z.string().optional().describe('Once it failed.'),
    error: z
      .strictObject({ code: z.string().nullable(), message: z.string() })
      .optional()
      .describe('Once it failed.'),
    completed_at: unixSeconds.optional(),
    resultExpiredAt: instant.optional().describe('When its result was removed, because of its age.'),
  })
  .meta({ id: 'ImageTask', description: 'An image task.' });
export type ImageTaskView = z.output<typeof IMAGE_TASK>;

export const CREATED_IMAGE_TASK = z
  .strictObject({
    ...IMAGE_TASK.shape,
    created: unixSeconds,
    data: z
      .array(z.union([z.strictObject({ url: z.url() }), z.strictObject({ b64_json: z.string() })]))
      .describe('As in OpenAI’s answer.'),
  })
  .meta({
    id: 'CreatedImageTask',
    description: 'An image task that was completed while its creation waited.',
  });

export const VIDEO_TASK = z
  .strictObject({
    id: id('task'),
    model: modelId,
    status,
    progress,
    creditsEstimate: estimate,
    creditsCharged: charged,
    upstreamTaskId,
    outputUrl,
    errorMessage,
    requestPayload,
    billingMode,
    createdAt: instant,
    resultExpiredAt: instant.optional().describe('When its result was removed, because of its age.'),
  })
  .meta({ id: 'VideoTask', description: 'A video task.' });
export type VideoTaskView = z.output<typeof VIDEO_TASK>;

export const ESTIMATE = z
  .strictObject({
    creditsEstimate: estimate,
    billingMode,
    breakdown: priceLines,
  })
  .meta({ id: 'Estimate', description: 'What a task would cost at most.' });
export type EstimateView = z.output<typeof ESTIMATE>;

// JSON of videos as OpenAI's Videos API has it.
import { z } from 'zod';
import { credits, id, modelId, progress, unixSeconds } from './basics.ts';

export const OPENAI_VIDEO = z
  .strictObject({
    id: id('task'),
    object: z.literal('video'),
    model: modelId,
    status: z
      .enum(['queued', 'in_progress', 'completed', 'failed'])
      .describe('A cancelled video reads as failed here, with the code `task_cancelled`.'),
    progress,
    created_at: unixSeconds,
    completed_at: unixSeconds.nullable(),
    expires_at: unixSeconds.nullable(),
    prompt: z.string().nullable(),
    seconds: z.string(),
    size: z
      .string()
      .describe('Width and height in pixels; the resolution where the model chooses the ratio.'),
    remixed_from_video_id: z.string().nullable(),
    error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
    creditsEstimate: credits.describe('Set aside at most; what the video may cost.'),
    creditsCharged: credits.describe('What it cost. 0 until it is completed, and if it fails.'),
  })
  .meta({ id: 'OpenaiVideo', description: 'A video task as OpenAI’s Videos API shows a video.' });
export type OpenaiVideoView = z.output<typeof OPENAI_VIDEO>;

export const OPENAI_VIDEO_LIST = z.strictObject({
  object: z.literal('list'),
  data: z.array(OPENAI_VIDEO),
  first_id: id('task').nullable(),
  last_id: id('task').nullable().describe('Send it as `after` to get the next page.'),
  has_more: z.boolean(),
});

export const DELETED_OPENAI_VIDEO = z.strictObject({
  id: id('task'),
  object: z.literal('video.deleted'),
  deleted: z.literal(true),
});

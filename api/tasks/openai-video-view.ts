// Presents a video task as OpenAI's Videos API shows a video.
import type { Task } from '../../db/entities/tasks.ts';
import { toCredits } from '../../domain/credits.ts';
import { pixelSizeOf } from '../../domain/orders/pixel-sizes.ts';
import { toUnixSeconds } from '../../domain/times.ts';
import type { OpenaiVideoView } from '../shapes/openai-videos.ts';

/** A cancelled video reads as failed, because OpenAI's clients know no other word. */
export function presentOpenaiVideo(task: Task, prompt: string | undefined): OpenaiVideoView {
  const { status, ordered } = task;
  const failed = status === 'failed' || status === 'cancelled';
  const error = {
    code: status === 'cancelled' ? 'task_cancelled' : (task.errorCode ?? 'internal_error'),
    message: task.errorMessage ?? 'The task was cancelled.',
  };
  return {
    id: task.id,
    object: 'video',
    model: task.model,
    status: failed ? 'failed' : status,
    progress: task.progress,
    created_at: toUnixSeconds(task.createdAt),
    completed_at: status === 'completed' && task.completedAt ? toUnixSeconds(task.completedAt) : null,
    expires_at: null,
    prompt: prompt ?? null,
    seconds: String(ordered.seconds),
    size: pixelSizeOf(ordered.resolution, ordered.ratio) ?? ordered.resolution ?? '',
    remixed_from_video_id: null,
    error: failed ? error : null,
    creditsEstimate: toCredits(task.creditsEstimate),
    creditsCharged: toCredits(task.creditsCharged),
  };
}

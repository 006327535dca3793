// The small picture of a task: its result where there is one, else what kind of task it is.
import type { Task } from '../data/types.ts';
import { Icon } from './icons.tsx';

type Shown = Pick<Task, 'outputs' | 'mode'>;

export function Thumb({ task, size = 16 }: { task: Shown; size?: number }) {
  const [output] = task.outputs;
  const preview = output?.previewUrl ?? null;
  return (
    <span class="thumb" aria-hidden="true">
      {preview || output?.contentType.startsWith('image/') ? (
        <img src={preview ?? output?.url} alt="" loading="lazy" decoding="async" />
      ) : output?.contentType.startsWith('video/') ? (
        <video src={`${output.url}#t=0.1`} preload="metadata" muted playsInline />
      ) : (
        <Icon name={task.mode} size={size} />
      )}
    </span>
  );
}

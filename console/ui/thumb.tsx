// The small picture of a task: its result where there is one, else what kind of task it is.
import { firstLook } from '../data/first-look.ts';
import { useStore } from '../data/store.ts';
import type { Task } from '../data/types.ts';
import { Icon } from './icons.tsx';

type Shown = Pick<Task, 'outputs' | 'mode'>;

export function Thumb({ task, size = 16 }: { task: Shown; size?: number }) {
  // Fifty pictures that are fetched and decoded at once keep the rows themselves from the screen.
  const isLooking = useStore(firstLook);
  const [output] = task.outputs;
  if (output && !isLooking) return <span class="thumb" />;
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

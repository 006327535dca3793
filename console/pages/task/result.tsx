// The result of a task in its place: pictures, a video, a text; before that, how far it is; else why there
// is none.
import { useModels } from '../../data/queries.ts';
import type { Task } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { ButtonLink } from '../../ui/controls.tsx';
import { formatDuration, formatMoment } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { Empty } from '../../ui/parts.tsx';
import { isOpen } from '../../ui/status.tsx';
import { useNow } from '../../ui/times.tsx';
import { Duration, reasonOf } from '../tasks/views.tsx';

/** What the vendor said, without the sentence before it that the reason says already. */
const SAID = /Provider says: .*/s;

export function Result({ task }: { task: Task }) {
  if (isOpen(task)) return <Waiting task={task} />;
  if (task.status === 'failed')
    return (
      <div class="result">
        <Empty icon="warning" title={t.task.failedTitle} note={reasonOf(task)}>
          {task.errorMessage && <p class="small">{SAID.exec(task.errorMessage)?.[0] ?? task.errorMessage}</p>}
        </Empty>
      </div>
    );
  if (task.status === 'cancelled')
    return (
      <div class="result">
        <Empty icon="stop" title={t.task.cancelledTitle} />
      </div>
    );
  if (task.outputText !== null)
    return (
      <div class="result">
        <div class="result-text">{task.outputText}</div>
      </div>
    );
  return <Files task={task} />;
}

function Files({ task: { mode, outputs, resultExpiredAt } }: { task: Task }) {
  if (outputs.length === 0)
    return (
      <div class="result">
        <Empty
          icon={mode}
          title={t.task.noResult}
          {...(resultExpiredAt && { note: t.task.resultGone(formatMoment(resultExpiredAt)) })}
        />
      </div>
    );
  return (
    <div class="stack tight">
      <div class={outputs.length > 1 ? 'result many' : 'result'}>
        {outputs.map(({ url, contentType }, index) =>
          contentType.startsWith('video/') ? (
            <video
              key={index}
              src={url}
              controls
              preload="metadata"
              playsInline
              aria-label={t.task.output(index + 1)}
            />
          ) : (
            <a key={index} href={url} target="_blank" rel="noopener" title={t.task.output(index + 1)}>
              <img src={url} alt={t.task.output(index + 1)} decoding="async" />
            </a>
          ),
        )}
      </div>
      <div class="row wrap end">
        {outputs.map(({ url }, index) => (
          <ButtonLink key={index} isSmall icon="download" href={url} download>
            {outputs.length > 1 ? t.task.output(index + 1) : t.tasks.download}
          </ButtonLink>
        ))}
      </div>
    </div>
  );
}

/** A task that waits for so long does so because what begins tasks is away, or has too many of them. */
const LATE_MS = 20_000;

/** While it is made: how far it is, and how long such tasks usually take. */
function Waiting({ task }: { task: Task }) {
  const usual = useModels().data?.find(({ id }) => id === task.model)?.usual_seconds;
  const isFirst = task.status === 'queued' && task.attempt === 1;
  const isLate = useNow(isFirst) - Date.parse(task.createdAt) > LATE_MS;
  return (
    <div class="result">
      <div class="empty" style={{ width: 'min(340px, 100%)' }}>
        <span class="empty-mark">
          <Icon name={task.mode} size={20} />
        </span>
        <h2>{task.status === 'queued' ? t.task.waiting : t.task.working}</h2>
        <p class="note">
          {t.task.elapsed} <Duration task={task} />
          {usual && ` · ${t.tasks.usual(formatDuration(usual.p50 * 1000))}`}
        </p>
        {isFirst && isLate && <p class="note">{t.task.late}</p>}
        <span
          class="meter progress"
          role="progressbar"
          aria-valuenow={task.progress}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-label={t.task.working}
        >
          <i style={{ width: `${Math.max(2, task.progress)}%` }} />
        </span>
      </div>
    </div>
  );
}

// One task: its result in place, what happened, what it cost and why, and what can be done with it.
import { useRoute } from 'preact-iso/router';
import { to } from '../../data/addresses.ts';
import { ApiError } from '../../data/api-error.ts';
import { promptOf } from '../../data/prompts.ts';
import { useKeys, useMe, useTask } from '../../data/queries.ts';
import { hasPermission } from '../../data/session.ts';
import type { Task } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { ButtonLink } from '../../ui/controls.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Bone, Card, Copy, Empty, Head, Skeleton } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import { Moment } from '../../ui/times.tsx';
import { Duration } from '../tasks/views.tsx';
import { TaskActions } from './actions.tsx';
import { OrderCode } from './order-code.tsx';
import { PriceOf } from './price-lines.tsx';
import { Result } from './result.tsx';
import { Timeline } from './timeline.tsx';

export default function TaskPage() {
  const id = useRoute().params['id'] ?? '';
  const { data: task, error, refetch } = useTask(id);
  const me = useMe().data;
  const mayReadAll = me ? hasPermission(me, 'tasks.read') : false;
  if (task) return <Shown key={task.id} task={task} />;
  if (error instanceof ApiError && error.status === 404)
    return (
      <Empty isPage icon="search" title={t.task.missing}>
        {mayReadAll && <ButtonLink href={to(`admin/tasks/${id}`)}>{t.pages.adminTasks}</ButtonLink>}
        <ButtonLink href={to('tasks')}>{t.task.back}</ButtonLink>
      </Empty>
    );
  return (
    <>
      <Head title={<Bone width="260px" height="20px" />} name={t.pages.tasks} />
      <Problem error={error} onRetry={() => void refetch()} />
      <div class="columns">
        <div class="result" />
        <Skeleton lines={8} />
      </div>
    </>
  );
}

function Shown({ task }: { task: Task }) {
  const prompt = promptOf(task);
  return (
    <>
      <div class="stack tight">
        <a class="row note soft back" href={to('tasks')}>
          <Icon name="back" size={14} />
          {t.task.back}
        </a>
        <Head
          title={<span class="title-prompt">{prompt ?? t.tasks.noPrompt}</span>}
          name={prompt?.slice(0, 60) ?? task.id}
        >
          <TaskActions task={task} />
        </Head>
        <div class="row wide wrap note soft">
          <Status task={task} />
          <a class="link" href={to('models', { q: task.model })}>
            {task.model}
          </a>
          <Copy text={task.id} />
        </div>
      </div>
      <div class="columns">
        <div class="stack loose">
          <Result task={task} />
          <Card title={t.task.timeline}>
            <Timeline task={task} />
          </Card>
          <OrderCode task={task} />
        </div>
        <div class="stack">
          <Card title={t.task.price}>
            <PriceOf task={task} />
          </Card>
          {prompt !== null && (
            <Card title={t.task.prompt}>
              <p class="prompt note" tabIndex={0} role="region" aria-label={t.task.prompt}>
                {prompt}
              </p>
            </Card>
          )}
          <Card title={t.task.details}>
            <Facts task={task} />
          </Card>
        </div>
      </div>
    </>
  );
}

function Facts({ task }: { task: Task }) {
  const keys = useKeys().data ?? [];
  return (
    <dl class="facts">
      <dt>{t.task.created}</dt>
      <dd>
        <Moment at={task.createdAt} />
      </dd>
      <dt>{t.task.ended}</dt>
      <dd>
        <Moment at={task.completedAt} />
      </dd>
      <dt>{t.task.took}</dt>
      <dd>
        <Duration task={task} />
      </dd>
      <dt>{t.attempt}</dt>
      <dd>{task.attempt}</dd>
      {task.keyId && (
        <>
          <dt>{t.task.key}</dt>
          <dd>
            <a class="link" href={to('tasks', { keyId: task.keyId })}>
              {keys.find(({ id }) => id === task.keyId)?.name ?? task.keyId}
            </a>
          </dd>
        </>
      )}
      {task.upstreamTaskId && (
        <>
          <dt>{t.task.vendorId}</dt>
          <dd>
            <Copy text={task.upstreamTaskId} />
          </dd>
        </>
      )}
    </dl>
  );
}

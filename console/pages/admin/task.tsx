// Administration: one task of any user, masked: what happened, what it moved on the account, its workflow.
import { useQuery } from '@tanstack/preact-query';
import { useRoute } from 'preact-iso/router';
import { to } from '../../data/addresses.ts';
import { ApiError } from '../../data/api-error.ts';
import { call } from '../../data/call.ts';
import { useAbout } from '../../data/queries.ts';
import type { ForeignTaskDetails } from '../../data/types.ts';
import { sentenceOf } from '../../texts/index.ts';
import { t } from '../../texts/pages.ts';
import { ButtonLink } from '../../ui/controls.tsx';
import { formatCredits } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { Bone, Card, Copy, Empty, Figure, Head, Notice, Skeleton } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { isOpen, Status } from '../../ui/status.tsx';
import { Moment } from '../../ui/times.tsx';
import { Statement } from '../credits/statement.tsx';
import { Attempts } from '../task/timeline.tsx';
import { Duration } from '../tasks/views.tsx';
import { workflowUrl } from './workflow-url.ts';

const OPEN_MS = 2_500;

export default function AdminTask() {
  const id = useRoute().params['id'] ?? '';
  const task = useQuery({
    queryKey: ['admin', 'task', id],
    queryFn: async ({ signal }) => (await call('GET /api/admin/tasks/:id', { signal, params: { id } })).data,
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? OPEN_MS : false),
  });
  if (task.data) return <Shown task={task.data} />;
  if (task.error instanceof ApiError && [400, 404].includes(task.error.status))
    return (
      <Empty isPage icon="search" title={t.task.missing}>
        <ButtonLink href={to('admin/tasks')}>{t.pages.adminTasks}</ButtonLink>
      </Empty>
    );
  return (
    <>
      <Head title={<Bone width="260px" height="20px" />} name={t.pages.adminTasks} />
      <Problem error={task.error} onRetry={() => void task.refetch()} />
      <Card>
        <Skeleton lines={8} />
      </Card>
    </>
  );
}

function Shown({ task }: { task: ForeignTaskDetails }) {
  const workflow = workflowUrl(useAbout().data, task.id);
  return (
    <>
      <div class="stack tight">
        <a class="row note soft back" href={to('admin/tasks')}>
          <Icon name="back" size={14} />
          {t.pages.adminTasks}
        </a>
        <Head title={task.model} name={task.id}>
          {workflow && (
            <ButtonLink icon="open" href={workflow} target="_blank">
              {t.admin.inTemporal}
            </ButtonLink>
          )}
        </Head>
        <div class="row wide wrap note soft">
          <Status task={task} />
          <span>{t.modes[task.mode]}</span>
          <Copy text={task.id} />
        </div>
      </div>
      {task.status === 'failed' && task.errorCode && (
        <Notice look="bad">
          <div class="stack tight">
            <span>{sentenceOf({ code: task.errorCode, message: task.errorCode })}</span>
            <span class="small soft">
              <code>{task.errorCode}</code> · {t.admin.maskedError}
            </span>
          </div>
        </Notice>
      )}
      <dl class="figures">
        <Figure name={t.task.ordered}>{formatCredits(task.creditsEstimate)}</Figure>
        <Figure name={t.task.charged}>{formatCredits(isOpen(task) ? null : task.creditsCharged)}</Figure>
        {task.creditsRefunded > 0 && (
          <Figure name={t.credits.types['refund'] ?? ''}>{formatCredits(task.creditsRefunded)}</Figure>
        )}
        <Figure name={t.task.took}>
          <Duration task={task} />
        </Figure>
        <Figure name={t.attempt}>{task.attempt}</Figure>
      </dl>
      <div class="columns">
        <div class="stack loose">
          <Card title={t.task.timeline}>
            <Attempts task={task} events={task.timeline} />
          </Card>
          <section class="stack tight">
            <h2>{t.credits.statement}</h2>
            {task.ledger.length === 0 ? (
              <Card>
                <p class="note soft">{t.admin.noMoves}</p>
              </Card>
            ) : (
              <div class="table-card">
                <Statement entries={task.ledger} isLoading={false} tasks="admin/tasks" />
              </div>
            )}
          </section>
        </div>
        <Card title={t.task.details}>
          <Facts task={task} />
        </Card>
      </div>
    </>
  );
}

function Facts({ task }: { task: ForeignTaskDetails }) {
  return (
    <dl class="facts">
      <dt>{t.admin.user}</dt>
      <dd>
        <a class="link mono small cut" href={to(`admin/users/${task.userId}`)} title={task.userId}>
          {task.userId}
        </a>
      </dd>
      {task.keyId && (
        <>
          <dt>{t.task.key}</dt>
          <dd class="mono small cut" title={task.keyId}>
            {task.keyId}
          </dd>
        </>
      )}
      <dt>{t.task.created}</dt>
      <dd>
        <Moment at={task.createdAt} />
      </dd>
      <dt>{t.task.started}</dt>
      <dd>
        <Moment at={task.startedAt} />
      </dd>
      <dt>{t.task.ended}</dt>
      <dd>
        <Moment at={task.completedAt} />
      </dd>
      <dt>{t.task.result}</dt>
      <dd>{task.outputs.map(({ contentType }) => contentType).join(', ') || '–'}</dd>
      {task.resultExpiredAt && (
        <>
          <dt>{t.task.deleted}</dt>
          <dd>
            <Moment at={task.resultExpiredAt} />
          </dd>
        </>
      )}
      <dt>{t.task.prompt}</dt>
      <dd class="faint">{t.admin.masked}</dd>
    </dl>
  );
}

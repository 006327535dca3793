// Administration: everybody's tasks, masked, with a link to the run of each in Temporal's UI.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/preact-query';
import { call } from '../../data/call.ts';
import { useFilters } from '../../data/filters.ts';
import { useAbout } from '../../data/queries.ts';
import type { ForeignTask, TaskMode, TaskStatus } from '../../data/types.ts';
import { t } from '../../texts/index.ts';
import { Select } from '../../ui/controls.tsx';
import { formatCredits } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { BoneRows, More } from '../../ui/list.tsx';
import { Card, Copy, Empty, Head } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import { Age } from '../../ui/times.tsx';
import { to } from '../../data/addresses.ts';

const ROWS = '50';
const COLUMNS = 7;

export default function AdminTasks() {
  const [filters, change] = useFilters();
  const { status, mode } = filters;
  const list = useInfiniteQuery({
    queryKey: ['admin', 'tasks', status, mode],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam: cursor }) =>
      call('GET /api/admin/tasks', {
        signal,
        query: {
          limit: ROWS,
          ...(cursor && { cursor }),
          status: status as TaskStatus | undefined,
          mode: mode as TaskMode | undefined,
        },
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const tasks = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <Head title={t.pages.adminTasks} note={t.admin.tasksNote} />
      <div class="filters" role="search">
        <Select
          label={t.tasks.status}
          value={status ?? ''}
          options={[
            { value: '', label: t.tasks.anyStatus },
            ...Object.entries(t.statuses).map(([value, label]) => ({ value, label })),
          ]}
          onValue={(value) => change({ status: value })}
        />
        <Select
          label={t.tasks.mode}
          value={mode ?? ''}
          options={[
            { value: '', label: t.tasks.anyMode },
            ...Object.entries(t.modes).map(([value, label]) => ({ value, label })),
          ]}
          onValue={(value) => change({ mode: value })}
        />
      </div>
      <Problem error={list.error} onRetry={() => void list.refetch()} />
      {!list.isPending && tasks.length === 0 ? (
        <Card>
          <Empty icon="tasks" title={t.admin.noTasks} />
        </Card>
      ) : (
        <div class="table-card">
          <Table tasks={tasks} isLoading={list.isPending} />
          {!list.isPending && <More pages={list} />}
        </div>
      )}
    </>
  );
}

function Table({ tasks, isLoading }: { tasks: readonly ForeignTask[]; isLoading: boolean }) {
  const temporal = useAbout().data?.temporalUiUrl;
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={t.pages.adminTasks}>
      <table class="table dense" aria-busy={isLoading}>
        <thead>
          <tr>
            <th>{t.task.id}</th>
            <th>{t.tasks.model}</th>
            <th>{t.admin.user}</th>
            <th>{t.tasks.status}</th>
            <th class="number">{t.tasks.credits}</th>
            <th class="number">{t.tasks.age}</th>
            <th class="tiny">
              <span class="unseen">{t.admin.inTemporal}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {isLoading && <BoneRows columns={COLUMNS} />}
          {tasks.map((task) => (
            <tr key={task.id}>
              <td style={{ maxWidth: '170px' }}>
                <Copy text={task.id} />
              </td>
              <td>
                <span class="row">
                  <Icon name={task.mode} class="faint" size={14} />
                  {task.model}
                </span>
              </td>
              <td style={{ maxWidth: '170px' }}>
                <a
                  class="cut mono link"
                  style={{ display: 'block' }}
                  href={to('admin/users', { id: task.userId })}
                >
                  {task.userId}
                </a>
              </td>
              <td>
                <Status task={task} />
                {task.errorCode && <div class="small faint">{task.errorCode}</div>}
              </td>
              <td class="number">
                {formatCredits(task.completedAt ? task.creditsCharged : task.creditsEstimate)}
              </td>
              <td class="number faint tiny">
                <Age at={task.createdAt} />
              </td>
              <td class="tiny">
                {temporal && (
                  <a
                    class="button small quiet icon"
                    target="_blank"
                    rel="noopener"
                    title={t.admin.inTemporal}
                    aria-label={`${t.admin.inTemporal}: ${task.id}`}
                    href={`${temporal}/namespaces/default/workflows/task-${task.id}`}
                  >
                    <Icon name="open" size={14} />
                  </a>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// Home: what is there, what runs, what failed and why; for a new account, the way to the first result.
import { to } from '../../data/addresses.ts';
import { promptOf } from '../../data/prompts.ts';
import { useBalance, useKeys } from '../../data/queries.ts';
import type { Task } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { ButtonLink } from '../../ui/controls.tsx';
import { Amount, Card, Empty, Figure, Head, Skeleton } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import { Thumb } from '../../ui/thumb.tsx';
import { Age } from '../../ui/times.tsx';
import { reasonOf } from '../tasks/views.tsx';
import { useCurrentTasks } from './current-tasks.ts';
import { FirstSteps } from './first-steps.tsx';
import { Spending } from './spending.tsx';

const SHOWN_MAX = 5;
const RESULTS_MAX = 8;

export default function Home() {
  const tasks = useCurrentTasks();
  const { list, newest } = tasks;
  const keys = useKeys();
  const isNew = !list.isPending && newest.length === 0;
  return (
    <>
      <Head title={t.pages.home}>
        <ButtonLink look="primary" icon="plus" href={to('create')}>
          {t.pages.create}
        </ButtonLink>
      </Head>
      <Problem error={list.error} onRetry={() => void list.refetch()} />
      <Figures />
      {isNew && !keys.isPending ? (
        <FirstSteps hasKey={(keys.data?.length ?? 0) > 0} />
      ) : (
        <Overview {...tasks} />
      )}
    </>
  );
}

function Figures() {
  const { data: balance, isError } = useBalance();
  const unread = isError ? null : undefined;
  return (
    <dl class="figures">
      <Figure name={t.available}>
        <Amount credits={balance?.available ?? unread} />
      </Figure>
      <Figure name={t.home.reserved} hint={t.home.reservedHint}>
        <Amount credits={balance?.reserved ?? unread} />
      </Figure>
      <Spending />
    </dl>
  );
}

type OverviewProps = Omit<ReturnType<typeof useCurrentTasks>, 'list'>;

function Overview({ newest, running, failed, isReadingRunning, isReadingFailed }: OverviewProps) {
  const results = newest.filter(({ outputs }) => outputs.length > 0).slice(0, RESULTS_MAX);
  return (
    <>
      <div class="halves">
        <Card title={t.home.running} isFlush>
          {running.length > 0 ? (
            <Rows tasks={running.slice(0, SHOWN_MAX)} />
          ) : isReadingRunning ? (
            <Loading />
          ) : (
            <Empty icon="clock" title={t.home.nothingRuns} note={t.home.nothingRunsNote} />
          )}
        </Card>
        <Card title={t.home.failures} isFlush>
          {failed.length > 0 ? (
            <Rows tasks={failed.slice(0, SHOWN_MAX)} />
          ) : isReadingFailed ? (
            <Loading />
          ) : (
            <Empty icon="check" title={t.home.noFailures} note={t.home.noFailuresNote} />
          )}
        </Card>
      </div>
      {results.length > 0 && <Results tasks={results} />}
    </>
  );
}

function Loading() {
  return (
    <div class="card-body">
      <Skeleton lines={4} />
    </div>
  );
}

function Rows({ tasks }: { tasks: readonly Task[] }) {
  return (
    <ul class="rows">
      {tasks.map((task) => (
        <li key={task.id}>
          <a class="row wide" href={to(`tasks/${task.id}`)}>
            <Thumb task={task} />
            <span class="grow">
              <span class="cut strong note" style={{ display: 'block' }}>
                {promptOf(task) ?? t.tasks.noPrompt}
              </span>
              <span class="cut small faint" style={{ display: 'block' }}>
                {task.status === 'failed' ? reasonOf(task) : task.model}
              </span>
            </span>
            {task.status === 'failed' ? (
              <span class="small faint">
                <Age at={task.completedAt} />
              </span>
            ) : (
              <Status task={task} />
            )}
          </a>
        </li>
      ))}
    </ul>
  );
}

function Results({ tasks }: { tasks: readonly Task[] }) {
  return (
    <section class="stack">
      <div class="row between">
        <h2>{t.home.recent}</h2>
        <a class="link note" href={to('tasks', { status: 'completed' })}>
          {t.task.back}
        </a>
      </div>
      <ul class="grid-view">
        {tasks.map((task) => (
          <li key={task.id} class="tile">
            <Thumb task={task} size={28} />
            <div class="tile-text">
              <a class="cut strong note" href={to(`tasks/${task.id}`)}>
                {promptOf(task) ?? t.tasks.noPrompt}
              </a>
              <span class="row between small faint">
                <span class="cut">{task.model}</span>
                <Age at={task.createdAt} />
              </span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

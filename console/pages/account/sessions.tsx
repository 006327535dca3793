// Where the user is logged in, and what happened to the access to the account.
import { useAction } from '../../data/action.ts';
import { useQuery, useQueryClient } from '@tanstack/preact-query';
import { call } from '../../data/call.ts';
import { nameOfAction, t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { deviceOf } from '../../ui/device.ts';
import { Skeleton } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Age } from '../../ui/times.tsx';

const SHOWN = '20';

export function Sessions() {
  const queries = useQueryClient();
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: async ({ signal }) =>
      (await call('GET /api/auth/sessions', { signal, query: { limit: SHOWN } })).data,
  });
  const refresh = (): void => void queries.invalidateQueries({ queryKey: ['sessions'] });
  const end = useAction({
    mutationFn: (id: string) => call('DELETE /api/auth/sessions/:id', { params: { id } }),
    onSuccess: refresh,
  });
  const endOthers = useAction({ mutationFn: () => call('DELETE /api/auth/sessions'), onSuccess: refresh });
  if (sessions.isError) return <Problem error={sessions.error} />;
  if (!sessions.data) return <Skeleton lines={2} />;
  return (
    <>
      <ul class="card rows-plain">
        {sessions.data.map((session) => (
          <li key={session.id} class="row between">
            <span class="grow">
              <span class="note strong">{deviceOf(session.userAgent) ?? t.account.unknownDevice}</span>{' '}
              {session.current && <span class="tag good">{t.account.thisOne}</span>}
              <span class="small faint cut" style={{ display: 'block' }}>
                {session.ip && `${session.ip} · `}
                {t.account.lastSeen} <Age at={session.lastSeenAt} />
              </span>
            </span>
            {!session.current && (
              <Button
                isSmall
                isBusy={end.isPending && end.variables === session.id}
                onClick={() => end.mutate(session.id)}
              >
                {t.account.end}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <Problem error={end.error ?? endOthers.error} />
      {sessions.data.length > 1 && (
        <div>
          <Button isSmall isBusy={endOthers.isPending} onClick={() => endOthers.mutate()}>
            {t.account.endOthers}
          </Button>
        </div>
      )}
    </>
  );
}

export function SecurityEvents() {
  const events = useQuery({
    queryKey: ['security-events'],
    queryFn: async ({ signal }) =>
      (await call('GET /api/security-events', { signal, query: { limit: SHOWN } })).data,
  });
  if (events.isError) return <Problem error={events.error} />;
  if (!events.data) return <Skeleton lines={3} />;
  if (events.data.length === 0) return <p class="note soft">{t.account.noEvents}</p>;
  return (
    <div class="card scroll" tabIndex={0} role="region" aria-label={t.account.security}>
      <ul class="rows-plain">
        {events.data.map((event) => (
          <li key={event.id} class="row between note">
            <span class="cut">{nameOfAction(event.action)}</span>
            <span class="small faint row">
              <span>{event.ip}</span>
              <Age at={event.createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

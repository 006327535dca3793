// One redeem code: what it is worth, how often it may be used, and who used it.
import { useQuery } from '@tanstack/preact-query';
import { to } from '../../data/addresses.ts';
import { call } from '../../data/call.ts';
import { t } from '../../texts/pages.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { formatCount, formatCredits } from '../../ui/format.ts';
import { Copy, Skeleton } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Moment } from '../../ui/times.tsx';

export function CodeDetails({ id, onClose }: { id: string; onClose: () => void }) {
  const code = useQuery({
    queryKey: ['admin', 'code', id],
    queryFn: async ({ signal }) =>
      (await call('GET /api/admin/redeem-codes/:id', { signal, params: { id } })).data,
  });
  const { data } = code;
  return (
    <Dialog title={data ? `${data.label} …${data.codeHint}` : t.admin.code} class="wide" onClose={onClose}>
      <div class="dialog-body">
        <Problem error={code.error} onRetry={() => void code.refetch()} />
        {code.isPending && <Skeleton lines={5} />}
        {data && (
          <>
            <dl class="facts">
              <dt>{t.admin.status}</dt>
              <dd>{t.admin.codeStatuses[data.status]}</dd>
              <dt>{t.admin.creditsEach}</dt>
              <dd>{formatCredits(data.credits)}</dd>
              <dt>{t.admin.uses}</dt>
              <dd>{t.keys.of(formatCount(data.usedCount), formatCount(data.maxUses))}</dd>
              <dt>{t.admin.perUser}</dt>
              <dd>{formatCount(data.perUserLimit)}</dd>
              <dt>{t.admin.expires}</dt>
              <dd>
                <Moment at={data.expiresAt} />
              </dd>
              <dt>{t.admin.actor}</dt>
              <dd>
                <a class="link mono" href={to(`admin/users/${data.createdBy}`)}>
                  {data.createdBy}
                </a>
              </dd>
              <dt>{t.admin.id}</dt>
              <dd>
                <Copy text={data.id} />
              </dd>
            </dl>
            <h3>{t.admin.redemptions}</h3>
            {data.redemptions.length === 0 ? (
              <p class="note soft">{t.admin.noRedemptions}</p>
            ) : (
              <div class="card scroll" tabIndex={0} role="region" aria-label={t.admin.redemptions}>
                <ul class="rows-plain">
                  {data.redemptions.map(({ id: key, userId, credits, createdAt }) => (
                    <li key={key} class="row between note">
                      <a class="link mono small cut" href={to(`admin/users/${userId}`)}>
                        {userId}
                      </a>
                      <span class="row soft">
                        +{formatCredits(credits)}
                        <span class="small faint">
                          <Moment at={createdAt} />
                        </span>
                      </span>
                    </li>
                  ))}
                </ul>
              </div>
            )}
          </>
        )}
      </div>
    </Dialog>
  );
}

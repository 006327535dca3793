// Administration: what all users spend, what the operator loses, and what fails.
import { useFilters } from '../../data/filters.ts';
import { t } from '../../texts/pages.ts';
import { daysOf, intervalOf, UsageReport } from '../usage/report.tsx';
import { Failures } from './failures.tsx';

export default function AdminUsage() {
  const [filters] = useFilters();
  const days = daysOf(filters);
  return (
    <>
      <UsageReport
        title={t.pages.adminUsage}
        note={t.admin.usageNote}
        groups={['user', 'model', 'family', 'kind', 'none']}
        isAdmin
      />
      <Failures days={days} interval={intervalOf(days)} />
    </>
  );
}

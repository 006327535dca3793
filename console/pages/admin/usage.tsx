// Administration: what all users spend, and what the operator loses.
import { t } from '../../texts/pages.ts';
import { UsageReport } from '../usage/report.tsx';

export default function AdminUsage() {
  return (
    <UsageReport
      title={t.pages.adminUsage}
      note={t.admin.usageNote}
      groups={['user', 'model', 'family', 'kind', 'none']}
      isAdmin
    />
  );
}

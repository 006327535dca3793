// Usage: the user's credits by time and group, compared with the period before.
import { t } from '../../texts/pages.ts';
import { UsageReport } from './report.tsx';

export default function Usage() {
  return (
    <UsageReport
      title={t.pages.usage}
      note={t.usage.note}
      groups={['model', 'key', 'kind', 'none']}
      isAdmin={false}
    />
  );
}

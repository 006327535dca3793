// The filters of the audit log: what was done, by whom, on what, and since when.
import type { AuditAction } from '../../data/types.ts';
import { nameOfAction, t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { FilterBox } from '../../ui/filter-box.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { UserFilter } from './user-filter.tsx';

/** All actions: one that the API has and this table does not is a type error. */
const ALL: Readonly<Record<AuditAction, true>> = {
  LOG_IN: true,
  CREATE_USER: true,
  UPDATE_USER: true,
  GRANT_CREDITS: true,
  REFUND_TASK: true,
  CREATE_REDEEM_CODE: true,
  DISABLE_REDEEM_CODE: true,
  CREATE_API_KEY: true,
  UPDATE_API_KEY: true,
  REVOKE_API_KEY: true,
  CREATE_WEBHOOK: true,
  UPDATE_WEBHOOK: true,
  DELETE_WEBHOOK: true,
  DISABLE_WEBHOOK: true,
  ROTATE_WEBHOOK_SECRET: true,
  CHANGE_PASSWORD: true,
  END_SESSIONS: true,
  ENABLE_SECOND_FACTOR: true,
  DISABLE_SECOND_FACTOR: true,
  RESET_SECOND_FACTOR: true,
  USE_RECOVERY_CODE: true,
  LOCK_VERIFICATION: true,
  FREEZE_ACCOUNT: true,
  UNFREEZE_ACCOUNT: true,
  ROTATE_SECRETS: true,
};
const PERIODS = ['1', '7', '30'];

interface FiltersProps {
  filters: Readonly<Record<string, string>>;
  change: (changes: Readonly<Record<string, string>>) => void;
  /** Removes all filters; without it there is none. */
  clear?: () => void;
}

export function AuditFilters({ filters, change, clear }: FiltersProps) {
  return (
    <div class="filters" role="search">
      <FilterSelect
        name="action"
        label={t.admin.action}
        any={t.admin.anyAction}
        options={Object.keys(ALL).map((value) => [value, nameOfAction(value)])}
      />
      <UserFilter name="actor" label={t.admin.actorId} />
      <FilterBox
        label={t.admin.targetId}
        value={filters['target'] ?? ''}
        onValue={(value) => change({ target: value.trim() })}
      />
      <FilterSelect
        name="days"
        label={t.tasks.period}
        any={t.tasks.periods[''] ?? ''}
        options={PERIODS.map((value) => [value, t.tasks.periods[value] ?? value])}
      />
      {clear && (
        <Button look="quiet" onClick={clear}>
          {t.tasks.clear}
        </Button>
      )}
    </div>
  );
}

// What some pages share that load on demand, in the file of their texts: each of these would else be a small
// file of its own.
import './shared.ts';
import '../data/webhooks.ts';
import '../pages/admin/task-table.tsx';
import '../pages/admin/user-filter.tsx';
import '../pages/admin/user-forms.tsx';
import '../pages/credits/statement.tsx';
import '../pages/task/timeline.tsx';
import '../pages/webhooks/delivery-details.tsx';
import '../pages/webhooks/delivery-table.tsx';
import '../pages/webhooks/state.tsx';
import '../ui/lines.tsx';
import '../ui/shown-once.tsx';

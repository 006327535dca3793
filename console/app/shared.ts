// What pages share, in one file of the build: each page is linked to it, and brings no small files along.
import '../data/client.ts';
import '../data/csv.ts';
import '../data/events.ts';
import '../data/filters.ts';
import '../data/idempotency.ts';
import '../data/queries.ts';
import '../data/verification.ts';
import '../pages/tasks/views.tsx';
import '../texts/index.ts';
import '../ui/controls.tsx';
import '../ui/dialog.tsx';
import '../ui/list.tsx';
import '../ui/parts.tsx';
import '../ui/problem.tsx';
import '../ui/times.tsx';
import '../ui/toasts.tsx';
import 'preact-iso/router';

// The address of a task's workflow in Temporal's UI.
import type { AnswerOf } from '../../../api/openapi/route-types.ts';

type About = AnswerOf<'GET /api/console'>['data'];

/** Null where there is no UI. */
export function workflowUrl(about: About | null | undefined, taskId: string): string | null {
  if (!about?.temporalUiUrl) return null;
  const namespace = encodeURIComponent(about.temporalNamespace);
  return `${about.temporalUiUrl}/namespaces/${namespace}/workflows/task-${taskId}`;
}

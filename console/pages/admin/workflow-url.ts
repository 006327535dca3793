// The address of a task's workflow in Temporal's UI.

/** The namespace that workers and API use unless they are told otherwise. */
const NAMESPACE = 'default';

export function workflowUrl(temporalUiUrl: string, taskId: string): string {
  return `${temporalUiUrl}/namespaces/${NAMESPACE}/workflows/task-${taskId}`;
}

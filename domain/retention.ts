// How long is kept what is removed by age.

/** Days; 0 keeps for ever. */
export interface Retention {
  /** The results of completed tasks, from their end on. */
  resultDays: number;
  /** Tasks, from their end on. */
  taskDays: number;
  /** Chat calls, from their beginning on. */
  callDays: number;
  auditDays: number;
}

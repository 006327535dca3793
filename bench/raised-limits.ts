// Settings that lift the limits which would be measured instead of the product; all others are as delivered.

export const RAISED_LIMITS = {
  SVC_RUNNING_TASKS_PER_USER: '1000',
  SVC_WAITING_TASKS_PER_USER: '10000',
  SVC_LIMIT_CHAT: '100000000/60',
  SVC_LIMIT_CREATE: '1000000/60',
  SVC_LIMIT_READ: '1000000/60',
} as const;

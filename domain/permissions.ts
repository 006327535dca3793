// The permissions a user can have. Each gives access to one part of administration; ordinary users have none.

export const PERMISSIONS = [
  'redemption.read',
  'redemption.sensitive_write',
  'tasks.read',
  'audit.read',
  'users.read',
  'users.write',
  'credits.grant',
  'system.read',
  'usage.read',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

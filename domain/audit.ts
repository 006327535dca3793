// The actions that the audit log records.

export const AUDIT_ACTIONS = [
  'CREATE_REDEEM_CODE',
  'DISABLE_REDEEM_CODE',
  'CREATE_USER',
  'UPDATE_USER',
  'GRANT_CREDITS',
  'CREATE_API_KEY',
  'RESET_SECOND_FACTOR',
  'FREEZE_ACCOUNT',
  'UNFREEZE_ACCOUNT',
  'ROTATE_SECRETS',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

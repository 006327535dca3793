// The actions of the audit log. Those without a text of their own are the words of their code.
import type { AuditAction } from '../../data/types.ts';

export const actions: Partial<Record<AuditAction, string>> = {
  CREATE_API_KEY: 'Create API key',
  UPDATE_API_KEY: 'Update API key',
  REVOKE_API_KEY: 'Revoke API key',
};

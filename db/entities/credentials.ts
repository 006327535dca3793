// Cooldowns of the operator's vendor accounts: which credential is passed over, why, and until when.
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

export const CredentialRestEntity = defineEntity({
  name: 'CredentialRest',
  tableName: 'credential_rest',
  properties: {
    family: p.text().primary(),
    credential: p.text().primary(),
    reason: p.text().$type<'auth' | 'quota' | 'rate' | 'concurrency'>(),
    restsUntil: p.datetime(),
  },
});
export type CredentialRest = InferEntity<typeof CredentialRestEntity>;

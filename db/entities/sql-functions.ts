// Which texts of the SQL functions were installed, and when; the newest of a name is in force.
import { defineEntity, p } from '@mikro-orm/core';

export const SqlFunctionEntity = defineEntity({
  name: 'SqlFunction',
  tableName: 'sql_function',
  properties: {
    name: p.text().primary(),
    digest: p.text().primary(),
    installedAt: p.datetime().defaultRaw('now()'),
  },
});

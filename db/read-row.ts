// Reads a row that one of our own statements answered as `em.find` would have read it.
import type { EntityDictionary, EntitySchema } from '@mikro-orm/postgresql';
import type { Em } from './database.ts';

/**
 * The record in the columns of `row`: their names and types as the entity has them. Further columns are kept
 * as they are. It is no managed entity: what a unit of work keeps of each (a copy for comparison, a place in
 * the identity map) costs time in long lists, and nothing here is ever flushed.
 */
export function readRow<Entity extends object>(
  em: Em,
  entity: EntitySchema<Entity>,
  row: Record<string, unknown>,
): Entity {
  const meta = em.getMetadata().get<Entity>(entity);
  const platform = em.getPlatform();
  const record: Record<string, unknown> = em
    .getComparator()
    .mapResult<Entity>(meta, row as EntityDictionary<Entity>);
  for (const { name, customType } of meta.props)
    if (customType && record[name] !== null && record[name] !== undefined)
      record[name] = customType.convertToJSValue(record[name], platform);
  return record as Entity;
}

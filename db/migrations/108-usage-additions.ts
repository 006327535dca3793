// For summaries that compare users or keys: sums that stay of their type, and indexes of what is read.
import { Migration } from '@mikro-orm/migrations';

export class Migration108UsageAdditions extends Migration {
  override up(): void {
    this.addSql(ADDING);
    this.addSql(USERS);
    this.addSql(QUARTERS);
  }
}

/**
 * `sum` makes a numeric of every bigint, with a state of its own for each sum of each group. These are as
 * exact: what does not fit into a bigint is an error. Null where there is nothing to add.
 */
const ADDING = `
create aggregate add_up(bigint) (sfunc = int8pl, stype = bigint, parallel = safe);
create aggregate add_up(numeric) (sfunc = numeric_add, stype = numeric, parallel = safe);
`;

/**
 * Without it, the keys between the users of a span are read, too, which takes twice as long with three for
 * each. No column that changes is in an index, so that sums are carried forward as before.
 */
const USERS = `
create index if not exists usage_comparison_users on usage_comparison (span, start) where key_id = '*';
`;

/**
 * Half an hour of 900 users is found in 0.1 ms. By ranges of pages, which have the sums of many other hours,
 * it was 0.6 ms, and a day of a time zone such as India's has two of them. The ranges are not used any more.
 */
const QUARTERS = `
create index if not exists usage_rollup_quarters on usage_rollup (bucket) where user_id <> '';
drop index if exists usage_rollup_bucket;
`;

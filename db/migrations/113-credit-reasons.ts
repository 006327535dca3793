// What stands behind credits: no transfer adds any, and no redeem code is made, without a row that says who
// did it and why.
import { Migration } from '@mikro-orm/migrations';

export class Migration113CreditReasons extends Migration {
  override up(): void {
    this.addSql(AUDIT);
    this.addSql(CREDITED);
    this.addSql(CODES);
  }
}

/**
 * By the first index a transfer finds the one entry that names it. Entries that stand behind credits are kept
 * for ever: by the second, their removal does not step over them again and again.
 */
const AUDIT = `
create unique index if not exists audit_entry_by_transfer on audit_entry ((detail ->> 'ledgerEntryId'))
  where detail ->> 'ledgerEntryId' is not null;
create index if not exists audit_entry_removable on audit_entry (id)
  where action not in ('GRANT_CREDITS', 'REFUND_TASK', 'CREATE_REDEEM_CODE');
`;

/**
 * The transfers that added credits, apart from the ledger, so that a charge costs nothing more. Their ids are
 * unique: an audit entry names one transfer. The entry or redemption may be written after the transfer, so it
 * is asked for at the end of the transaction.
 */
const CREDITED = `
create table credited_transfer (
  transfer_id text primary key,
  account_id text not null,
  sequence bigint not null,
  unique (account_id, sequence)
);
create function require_credit_reason() returns trigger language plpgsql as $$
begin
  if credit_has_reason(new.account_id, new.sequence) then
    return null;
  end if;
  raise exception 'no audit entry and no redemption stands behind the transfer %', new.transfer_id
    using errcode = 'restrict_violation';
end $$;
create constraint trigger credited_transfer_reason after insert on credited_transfer
  deferrable initially deferred for each row execute function require_credit_reason();
`;

/** A disabled code stays so: credits that were withdrawn cannot be taken after all. */
const CODES = `
create function require_code_reason() returns trigger language plpgsql as $$
begin
  if code_has_reason(new.id) and new.created_at between now() - interval '1 hour' and now() + interval '1 hour' then
    return null;
  end if;
  raise exception 'no audit entry stands behind the redeem code %', new.id using errcode = 'restrict_violation';
end $$;
create constraint trigger redeem_code_reason after insert on redeem_code
  deferrable initially deferred for each row execute function require_code_reason();
create trigger redeem_code_stays_disabled before update on redeem_code for each row
  when (old.disabled_at is not null and new.disabled_at is distinct from old.disabled_at)
  execute function refuse_change();
`;

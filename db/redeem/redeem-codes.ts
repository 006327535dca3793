// Redeem codes as administrators handle them: made, listed, disabled, each change with its audit entry.
import { sql } from '@mikro-orm/postgresql';
import { toCredits, type MicroCredits } from '../../domain/credits.ts';
import { writeAuditEntry, type AuditOrigin } from '../audit-log.ts';
import { RedeemCodeEntity, RedemptionEntity, type Redemption } from '../entities/redeem-codes.ts';
import { makeId } from '../ids.ts';
import { hintOf, makeRedeemCode, writeRedeemCode } from './redeem-code-text.ts';
import type { Secrets } from '../secrets.ts';
import { readMicroCredits } from '../columns.ts';
import type { Em } from '../database.ts';

export const REDEEM_CODE_STATUSES = ['active', 'disabled', 'expired', 'exhausted'] as const;
export type RedeemCodeStatus = (typeof REDEEM_CODE_STATUSES)[number];

/** A code without its text, which is not stored. */
export interface RedeemCodeRecord {
  id: string;
  label: string;
  hint: string;
  credits: MicroCredits;
  maxUses: number;
  perUserLimit: number | null;
  usedCount: number;
  status: RedeemCodeStatus;
  expiresAt: Date | null;
  disabledAt: Date | null;
  createdBy: string;
  createdAt: Date;
}

export interface NewRedeemCode {
  label: string;
  credits: MicroCredits;
  maxUses: number;
  perUserLimit: number | null;
  expiresAt: Date | null;
  createdBy: string;
}

/** Makes a code. The returned text is its only copy. */
export async function createRedeemCode(
  em: Em,
  secrets: Secrets,
  origin: AuditOrigin,
  input: NewRedeemCode,
): Promise<{ text: string; record: RedeemCodeRecord }> {
  const code = makeRedeemCode();
  const id = makeId('rdm');
  const hint = hintOf(code);
  const record = await em.transactional(async (tx) => {
    await tx.insert(RedeemCodeEntity, {
      id,
      ...input,
      ...secrets.hash('redeem-code', code),
      hint,
      createdAt: new Date(),
    });
    const { label, credits, maxUses, perUserLimit, expiresAt } = input;
    const detail = { label, maxUses, perUserLimit, codeHint: hint };
    await writeAuditEntry(tx, origin, {
      action: 'CREATE_REDEEM_CODE',
      targetType: 'redeem_code',
      targetId: id,
      detail: { ...detail, credits: toCredits(credits), expiresAt: expiresAt?.toISOString() ?? null },
    });
    return requireRedeemCode(tx, id);
  });
  return { text: writeRedeemCode(code), record };
}

/**
 * Disables a code: redemptions that start later are refused. Done again, it changes nothing and logs nothing.
 * Never before a redemption, even if the clock was set back since: the check of the ledger would take that
 * one for a redemption of a disabled code.
 */
export async function disableRedeemCode(
  em: Em,
  origin: AuditOrigin,
  id: string,
): Promise<RedeemCodeRecord | null> {
  return em.transactional(async (tx) => {
    const [disabled] = await tx.execute<{ label: string; hint: string }[]>(sql`
      update redeem_code c
      set disabled_at = greatest(clock_timestamp(), (select max(created_at) from redemption where code_id = c.id))
      where id = ${id} and disabled_at is null
      returning label, hint`);
    if (disabled)
      await writeAuditEntry(tx, origin, {
        action: 'DISABLE_REDEEM_CODE',
        targetType: 'redeem_code',
        targetId: id,
        detail: { label: disabled.label, codeHint: disabled.hint },
      });
    return findRedeemCode(tx, id);
  });
}

export async function findRedeemCode(em: Em, id: string): Promise<RedeemCodeRecord | null> {
  const [row] = await em.execute<StoredCode[]>(sql`select ${COLUMNS} from redeem_code where id = ${id}`);
  return row ? readRecord(row) : null;
}

/**
 * Newest first, older than the code `beforeId` if given; at most `limit`. `label`: only codes of this batch.
 */
export async function listRedeemCodes(
  em: Em,
  page: {
    limit: number;
    beforeId: string | null;
    status?: RedeemCodeStatus | undefined;
    label?: string | undefined;
  },
): Promise<RedeemCodeRecord[]> {
  const { limit, beforeId, status, label } = page;
  const before = beforeId === null ? sql`` : sql`and id < ${beforeId}`;
  const labelled = label === undefined ? sql`` : sql`and label = ${label}`;
  const inStatus = status === undefined ? sql`` : sql`and ${STATUS} = ${status}`;
  const rows = await em.execute<StoredCode[]>(sql`
    select ${COLUMNS} from redeem_code where true ${before} ${labelled} ${inStatus} order by id desc limit ${limit}`);
  return rows.map(readRecord);
}

/** The redemptions of a code, newest first, at most `limit`. */
export async function listRedemptions(em: Em, codeId: string, limit: number): Promise<Redemption[]> {
  return em.find(RedemptionEntity, { codeId }, { orderBy: { id: 'desc' }, limit });
}

/** The status of a code. The database's clock decides what has expired, as it does for redemptions. */
const STATUS = sql`
  case when disabled_at is not null then 'disabled' when expires_at <= now() then 'expired'
       when used_count >= max_uses then 'exhausted' else 'active' end`;

const COLUMNS = sql`
  id, label, hint, credits, max_uses as "maxUses", per_user_limit as "perUserLimit", used_count as "usedCount",
  expires_at as "expiresAt", disabled_at as "disabledAt", created_by as "createdBy", created_at as "createdAt",
  ${STATUS} as status`;

type StoredCode = Omit<RedeemCodeRecord, 'credits' | 'expiresAt' | 'disabledAt' | 'createdAt'> & {
  credits: string;
  expiresAt: string | null;
  disabledAt: string | null;
  createdAt: string;
};

function readRecord(row: StoredCode): RedeemCodeRecord {
  return {
    ...row,
    credits: readMicroCredits(row.credits),
    expiresAt: row.expiresAt === null ? null : new Date(row.expiresAt),
    disabledAt: row.disabledAt === null ? null : new Date(row.disabledAt),
    createdAt: new Date(row.createdAt),
  };
}

async function requireRedeemCode(em: Em, id: string): Promise<RedeemCodeRecord> {
  const record = await findRedeemCode(em, id);
  if (!record) throw new Error(`the redeem code ${id} has just been made and is not there`);
  return record;
}

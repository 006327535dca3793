// What became of requests with idempotency keys: the rows of many are looked up in one statement, and answers
// that come after their effect are kept.
import { batch, isOneItemsFault } from '../batching.ts';
import { forkEm, type Database } from '../database.ts';
import { prepare } from '../prepared.ts';
import type { Secrets } from '../secrets.ts';
import {
  KEY_KEPT_HOURS,
  type IdentifiedRequest,
  type SealedAnswer,
  type StoredAnswer,
} from './idempotency-keys.ts';

/** The row of an earlier request under the same key. */
export interface IdempotencyRow {
  id: string;
  /** Whether that request had the same content. */
  isSameContent: boolean;
  /** Whether its lease still runs: another request may be producing the answer. */
  isLeased: boolean;
  subjectId: string | null;
  /** Null while it is not known. */
  answer: StoredAnswer | null;
}

export interface KeptAnswers {
  /** The row under this key, or null when there is none or its time is over. */
  find(request: IdentifiedRequest): Promise<IdempotencyRow | null>;
  /** Keeps the answer of the row, encrypted. The first one stands. */
  keep(rowId: string, answer: StoredAnswer): Promise<void>;
}

const BATCH_OPTIONS = { itemsMax: 100, isOneItemsFault };

/** `store` writes an answer that is sealed. */
export function openKeptAnswers(
  database: Database,
  secrets: Secrets,
  store: (answer: SealedAnswer) => Promise<void>,
): KeptAnswers {
  const em = forkEm(database); // one for all: statements on the pool leave nothing in it
  const find = batch(async (requests: readonly IdentifiedRequest[]) => {
    const found = requests.map((): FoundRow | null => null);
    for (const row of await findKeys(em, valuesOfRequests(requests))) found[row.n - 1] = row;
    return found;
  }, BATCH_OPTIONS);
  return {
    find: async (request) => {
      const row = await find(request);
      if (!row?.secretKeyId || row.answer) return row && readRow(row, secrets);
      const [long] = await findAnswer(em, [row.id]);
      return long ? readRow({ ...row, ...long }, secrets) : null;
    },
    keep: (rowId, answer) => store({ rowId, ...secrets.seal('answer', rowId, JSON.stringify(answer)) }),
  };
}

/** An encrypted answer and its key; null before there is one. A long one is null beside its key at first. */
interface FoundAnswer {
  answer: Uint8Array | null;
  secretKeyId: string | null;
}

/** `n`: the place of its request, from 1. */
interface FoundRow extends Omit<IdempotencyRow, 'answer'>, FoundAnswer {
  n: number;
}

const findKeys = prepare<FoundRow>(
  'find-keys',
  `select n, id, is_same_content as "isSameContent", is_leased as "isLeased", subject_id as "subjectId", answer,
     answer_secret_key_id as "secretKeyId"
   from find_keys($1, $2, $3, $4, $5, $6)`,
);

/** Finds one answer, however long. */
const findAnswer = prepare<FoundAnswer>(
  'find-answer',
  'select answer, answer_secret_key_id as "secretKeyId" from idempotency_key where id = $1',
);

function valuesOfRequests(requests: readonly IdentifiedRequest[]) {
  return [
    requests.map(({ userId }) => userId),
    requests.map(({ method }) => method),
    requests.map(({ path }) => path),
    requests.map(({ keyHash }) => keyHash.toString('hex')),
    requests.map(({ fingerprint }) => fingerprint.toString('hex')),
    KEY_KEPT_HOURS,
  ];
}

function readRow({ n: _, secretKeyId, answer: bytes, ...found }: FoundRow, secrets: Secrets): IdempotencyRow {
  const sealed = bytes && secretKeyId ? { secretKeyId, bytes } : null;
  const answer: StoredAnswer | null = sealed && JSON.parse(secrets.decrypt('answer', found.id, sealed));
  return { ...found, answer };
}

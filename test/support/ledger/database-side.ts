// Performs the ledger's commands in the database, on users of its own for every run.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { createApiKey } from '../../../db/keys/api-keys.ts';
import { COMMAND_LINE } from '../../../db/audit-log.ts';
import type { NewChatCall } from '../../../db/chat/calls.ts';
import { createChatCalls, settleAbandonedCalls, type ChatCalls } from '../../../db/chat/chat-ledger.ts';
import { makeId } from '../../../db/ids.ts';
import * as reservations from '../../../db/ledger/reservations.ts';
import { createTask, retryTask, type NewTask } from '../../../db/tasks/new-tasks.ts';
import { createRedeemCode, disableRedeemCode } from '../../../db/redeem/redeem-codes.ts';
import { redeem } from '../../../db/redeem/redemptions.ts';
import type { Secrets } from '../../../db/secrets.ts';
import { cancelTask, completeTask, failTask } from '../../../db/tasks/settlement.ts';
import { beginTask, findTask } from '../../../db/tasks/tasks.ts';
import type { PriceSnapshot } from '../../../domain/pricing.ts';
import { insertUser } from '../../../db/identity/users.ts';
import { parseCredits, toCredits, type MicroCredits } from '../../../domain/credits.ts';
import { CODE, FIRST_GRANT, KEY_QUOTA, USERS, type Command } from './commands.ts';
import { refundOnce, grantOnce } from '../credits.ts';
import { orderOf } from '../orders.ts';
import { forkEm, type Database, type Em } from '../../../db/database.ts';

const LEASE_SECONDS = 3_600;
const NO_LIMIT = 1_000_000;

interface Person {
  userId: string;
  keyId: string;
}

/** One run of commands, on accounts of its own. */
export class LedgerBench {
  readonly people: Person[] = [];
  readonly #database: Database;
  readonly #secrets: Secrets;
  readonly #calls: ChatCalls;
  readonly #run = randomBytes(6).toString('hex');
  readonly #tasks: { id: string; amount: MicroCredits }[] = [];
  readonly #reserved: NewChatCall[] = [];
  #code = { id: '', text: '' };

  private constructor(database: Database, secrets: Secrets) {
    this.#database = database;
    this.#secrets = secrets;
    this.#calls = createChatCalls(database, LEASE_SECONDS);
  }

  static async create(database: Database, secrets: Secrets): Promise<LedgerBench> {
    const bench = new LedgerBench(database, secrets);
    for (let number = 0; number < USERS; number += 1) bench.people.push(await bench.#createPerson(number));
    const input = {
      label: 'Test',
      maxUses: CODE.uses,
      perUserLimit: null,
      expiresAt: null,
      createdBy: bench.#person(0).userId,
    };
    const { text, record } = await createRedeemCode(bench.#em(), secrets, COMMAND_LINE, {
      ...input,
      credits: parseCredits(CODE.credits),
    });
    bench.#code = { id: record.id, text };
    return bench;
  }

  /** Performs the command; resolves to its verdict in one word. */
  async perform(command: Command): Promise<string> {
    if ('task' in command) return this.#performOnTask(command);
    if ('call' in command) return this.#performOnCall(command);
    if (command.kind === 'disable code') {
      await disableRedeemCode(this.#em(), COMMAND_LINE, this.#code.id);
      return 'disabled';
    }
    const { userId, keyId } = this.#person(command.user);
    switch (command.kind) {
      case 'grant':
        await this.#grant(userId, command.credits, `${command.user} ${command.once}`);
        return 'granted';
      case 'redeem': {
        const verdict = await redeem(this.#em(), this.#secrets, {
          userId,
          code: this.#code.text,
          requestId: 'r',
        });
        return verdict.kind === 'refused' ? verdict.reason : verdict.kind;
      }
      case 'disable':
        await this.#em().execute(sql`
          update app_user set disabled_at = case when ${command.isDisabled} then now() end where id = ${userId}`);
        return 'done';
      case 'create': {
        const id = makeId('task');
        const amount = parseCredits(command.credits);
        const input = newTask({ id, userId, keyId: command.byKey ? keyId : null, amount });
        const created = await createTask(this.#em(), input, NO_LIMIT);
        if ('kind' in created) return created.kind;
        this.#tasks.push({ id, amount });
        return 'created';
      }
      case 'call': {
        const amount = parseCredits(command.credits);
        const about = { model: 'm', stream: false, requestId: 'r' };
        const call = { id: makeId('call'), userId, keyId, ...about, amount, amountMax: amount, claim: null };
        const verdict = await this.#calls.reserve(call);
        if (verdict.kind !== 'reserved') return verdict.kind === 'refused' ? verdict.reason : verdict.kind;
        this.#reserved.push(call);
        return 'reserved';
      }
    }
  }

  async #performOnTask(command: Extract<Command, { task: number }>): Promise<string> {
    const found = this.#tasks[command.task];
    const row = found && (await findTask(this.#em(), found.id));
    if (!row) return 'nothing';
    const task = { taskId: row.id, attempt: row.attempt - ('late' in command && command.late ? 1 : 0) };
    switch (command.kind) {
      case 'reserve': {
        const verdict = await reservations.reserve(this.#em(), task);
        return verdict.kind === 'refused' ? verdict.reason : verdict.kind;
      }
      case 'begin': {
        const verdict = await beginTask(this.#em(), task, NO_LIMIT);
        return verdict.kind === 'refused' ? verdict.reason : verdict.status;
      }
      case 'complete': {
        const amount = (found.amount * BigInt(command.percent)) / 100n;
        return completeTask(this.#em(), task, { outputs: [], outputText: null, amount, loss: 0n });
      }
      case 'fail':
        return failTask(this.#em(), task, { code: 'internal_error', message: 'x' });
      case 'cancel':
        return cancelTask(this.#em(), task);
      case 'retry': {
        const { family, adapter, upstreamModel, ordered } = row;
        const renewed = {
          family,
          adapter,
          upstreamModel,
          ordered,
          price: PRICE,
          creditsEstimate: found.amount,
          requestId: 'r',
        };
        const retried = await retryTask(this.#em(), row, renewed, NO_LIMIT);
        return 'kind' in retried ? retried.kind : 'created';
      }
      case 'refund': {
        const input = { amount: parseCredits(command.credits), description: 'Test' };
        const idempotencyKey = `${this.#run} refund ${command.once}`;
        return (await refundOnce(this.#em(), { ...task, ...input, idempotencyKey })) ? 'refunded' : 'refused';
      }
    }
  }

  async #performOnCall(command: Extract<Command, { call: number }>): Promise<string> {
    const call = this.#reserved[command.call];
    if (!call) return 'nothing';
    const { id, userId, keyId, amount } = call;
    const of = (percent: number): MicroCredits => (amount * BigInt(percent)) / 100n;
    if (command.kind === 'settle') {
      const charged = of(command.percent);
      const taken = await this.#calls.settle({ id, userId, keyId, charged, ...ENDED });
      return `charged ${toCredits(taken)}`;
    }
    if (command.kind === 'know') {
      const known = { charge: of(command.percent), promptTokens: 1, completionTokens: 1 };
      return (await this.#calls.renewLease({ id, userId, ...known })) ? 'renewed' : 'lost';
    }
    await this.#em().execute(sql`
      update chat_call set lease_until = now() - interval '1 second'
      where user_id = ${userId} and id = ${id} and status = 'open'`);
    await settleAbandonedCalls(this.#em());
    return 'done';
  }

  async #createPerson(number: number): Promise<Person> {
    const email = `${this.#run}-${number}@example.com`;
    // Hashing a password would take longer than a run.
    const userId = await insertUser(this.#em(), { email, passwordHash: '-', permissions: [] });
    if (userId === null) throw new Error('the user was not created');
    await this.#grant(userId, FIRST_GRANT, `${number} first`);
    const limits = { quota: parseCredits(KEY_QUOTA) };
    const { id: keyId } = await createApiKey(this.#em(), this.#secrets, { userId, name: 'Test', ...limits });
    return { userId, keyId };
  }

  async #grant(userId: string, credits: number, once: string): Promise<void> {
    const amount = parseCredits(credits);
    const idempotencyKey = `${this.#run} grant ${once}`;
    await grantOnce(this.#em(), { userId, amount, idempotencyKey, description: 'Test' });
  }

  #person(number: number): Person {
    const person = this.people[number];
    if (!person) throw new Error('there is no such person');
    return person;
  }

  #em(): Em {
    return forkEm(this.#database);
  }
}

const PRICE: PriceSnapshot = { billingMode: 'per_task', lines: [] };

const ENDED = {
  loss: 0n,
  status: 'completed',
  promptTokens: 1,
  completionTokens: 1,
  billingBasis: 'upstream',
  latencyMs: 1,
  upstreamRequestId: null,
  errorCode: null,
  errorMessage: null,
  answer: null,
  tried: [],
} as const;

function newTask({
  amount,
  ...who
}: {
  id: string;
  userId: string;
  keyId: string | null;
  amount: MicroCredits;
}): NewTask {
  return {
    ...who,
    ...{ mode: 'image', model: 'm', family: 'f', adapter: 'a', upstreamModel: 'u' },
    ordered: orderOf({ mode: 'image', images: 1 }),
    price: PRICE,
    creditsEstimate: amount,
    requestPayload: {},
    requestId: 'r',
    sealed: { secretKeyId: 'k', prompt: Buffer.from('x'), body: Buffer.from('x') },
  };
}

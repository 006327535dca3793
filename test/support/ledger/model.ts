// A model of the ledger: plain numbers, one command after the other.
import { CODE, FIRST_GRANT, KEY_QUOTA, USERS, type Command } from './commands.ts';

/** In credits; shares are quarters, so that the sums are exact. */
export interface ModelUser {
  balance: number;
  reserved: number;
  granted: number;
  charged: number;
  isDisabled: boolean;
  key: { used: number; reserved: number };
}

interface ModelTask {
  user: number;
  byKey: boolean;
  credits: number;
  status: 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled';
  attempt: number;
  isAdmitted: boolean;
  charged: number;
  refunded: number;
}

interface ModelCall {
  user: number;
  credits: number;
  state: 'open' | 'abandoned' | 'settled';
  known: number;
  charged: number;
}

export interface Model {
  users: ModelUser[];
  tasks: ModelTask[];
  calls: ModelCall[];
  code: { uses: number; isDisabled: boolean };
  once: Set<string>;
}

export function createModel(): Model {
  const newUser = (): ModelUser => ({
    ...{ balance: FIRST_GRANT, reserved: 0, granted: FIRST_GRANT, charged: 0, isDisabled: false },
    key: { used: 0, reserved: 0 },
  });
  const code = { uses: 0, isDisabled: false };
  return { users: Array.from({ length: USERS }, newUser), tasks: [], calls: [], code, once: new Set() };
}

/** Predicts the verdict of the command and applies it to the model. */
export function predict(model: Model, command: Command): string {
  if ('task' in command) return predictTask(model, command);
  if ('call' in command) return predictCall(model, command);
  if (command.kind === 'disable code') return ((model.code.isDisabled = true), 'disabled');
  const user = at(model.users, command.user);
  switch (command.kind) {
    case 'grant':
      if (isFirst(model, `grant ${command.user} ${command.once}`)) give(user, command.credits);
      return 'granted';
    case 'redeem':
      if (model.code.isDisabled) return 'redeem_code_disabled';
      if (model.code.uses === CODE.uses) return 'redeem_code_exhausted';
      model.code.uses += 1;
      give(user, CODE.credits);
      return 'redeemed';
    case 'disable':
      user.isDisabled = command.isDisabled;
      return 'done';
    case 'create':
      return create(model, command);
    case 'call':
      if (user.isDisabled) return 'account_disabled';
      if (exceedsQuota(user, earmarkedByKey(model, command.user) + command.credits))
        return 'key_quota_exceeded';
      if (command.credits > user.balance - user.reserved - earmarked(model, command.user))
        return 'insufficient_credits';
      setAside(user, command.credits, true);
      model.calls.push({
        ...{ user: command.user, credits: command.credits },
        ...{ state: 'open', known: 0, charged: 0 },
      });
      return 'reserved';
  }
}

function create(
  model: Model,
  { user: number, credits, byKey }: Extract<Command, { kind: 'create' }>,
): string {
  const user = at(model.users, number);
  if (user.isDisabled) return 'account_disabled';
  if (byKey && exceedsQuota(user, earmarkedByKey(model, number) + credits)) return 'key_quota_exceeded';
  if (user.balance - user.reserved - earmarked(model, number) < credits) return 'insufficient_credits';
  model.tasks.push({
    user: number,
    byKey,
    credits,
    status: 'queued',
    attempt: 1,
    isAdmitted: false,
    charged: 0,
    refunded: 0,
  });
  return 'created';
}

/** Estimates of the user's queued tasks for which nothing is reserved yet. */
function earmarked(model: Model, user: number): number {
  return sum(unreserved(model, user).map((task) => task.credits));
}

function earmarkedByKey(model: Model, user: number): number {
  return sum(
    unreserved(model, user)
      .filter((task) => task.byKey)
      .map((task) => task.credits),
  );
}

function unreserved(model: Model, user: number): ModelTask[] {
  return model.tasks.filter((task) => task.user === user && task.status === 'queued' && !task.isAdmitted);
}

function predictTask(model: Model, command: Extract<Command, { task: number }>): string {
  const task = model.tasks[command.task];
  if (!task) return 'nothing';
  const user = at(model.users, task.user);
  const isLate = 'late' in command && command.late;
  const isOpen = task.status === 'queued' || task.status === 'in_progress';
  const settle = (status: ModelTask['status'], charged: number): string => {
    if (task.isAdmitted) takeBack(user, task.credits, charged, task.byKey);
    Object.assign(task, { status, charged, isAdmitted: false });
    return status;
  };
  switch (command.kind) {
    case 'reserve':
      if (isLate || !isOpen) return 'not_claimable';
      if (task.isAdmitted) return 'reserved';
      if (user.isDisabled) return 'account_disabled';
      if (task.byKey && exceedsQuota(user, task.credits)) return 'key_quota_exceeded';
      task.isAdmitted = true;
      setAside(user, task.credits, task.byKey);
      return 'reserved';
    case 'begin':
      if (isLate) return 'missing';
      if (task.status === 'queued' && task.isAdmitted) {
        if (user.isDisabled) return 'account_disabled';
        task.status = 'in_progress';
      }
      return task.status;
    case 'complete':
      if (isLate) return 'failed';
      return task.status === 'in_progress'
        ? settle('completed', (task.credits * command.percent) / 100)
        : task.status;
    case 'fail':
    case 'cancel':
      if (isLate) return 'failed';
      return isOpen ? settle(command.kind === 'fail' ? 'failed' : 'cancelled', 0) : task.status;
    case 'retry':
      return retry(model, task);
    case 'refund': {
      const isLeft = task.status === 'completed' && task.refunded + command.credits <= task.charged;
      if (model.once.has(`refund ${command.once}`)) return 'refunded';
      if (!isLeft || !isFirst(model, `refund ${command.once}`)) return 'refused';
      task.refunded += command.credits;
      user.balance += command.credits;
      user.charged -= command.credits;
      if (task.byKey) user.key.used -= command.credits;
      return 'refunded';
    }
  }
}

function retry(model: Model, task: ModelTask): string {
  if (task.status !== 'failed') return 'not_retryable';
  const verdict = create(model, { kind: 'create', user: task.user, credits: task.credits, byKey: false });
  if (verdict !== 'created') return verdict;
  model.tasks.pop();
  Object.assign(task, { status: 'queued', byKey: false, attempt: task.attempt + 1 });
  return 'created';
}

function predictCall(model: Model, command: Extract<Command, { call: number }>): string {
  const call = model.calls[command.call];
  if (!call) return 'nothing';
  const user = at(model.users, call.user);
  const isOpen = call.state === 'open';
  if (command.kind === 'know') {
    if (isOpen) call.known = (call.credits * command.percent) / 100;
    return isOpen ? 'renewed' : 'lost';
  }
  if (isOpen) {
    call.charged = command.kind === 'settle' ? (call.credits * command.percent) / 100 : call.known;
    takeBack(user, call.credits, call.charged, true);
    call.state = command.kind === 'settle' ? 'settled' : 'abandoned';
  } else if (call.state === 'abandoned' && command.kind === 'settle') {
    call.charged += late(model, call, (call.credits * command.percent) / 100 - call.charged);
    call.state = 'settled';
  }
  return command.kind === 'settle' ? `charged ${call.charged}` : 'done';
}

/** What is charged by the end of a call that was taken for abandoned: all that is owed, or nothing. */
function late(model: Model, { user: number }: ModelCall, owed: number): number {
  const user = at(model.users, number);
  const free = user.balance - user.reserved - earmarked(model, number);
  if (owed <= 0 || owed > free || exceedsQuota(user, earmarkedByKey(model, number) + owed)) return 0;
  takeBack(user, 0, owed, true);
  return owed;
}

function give(user: ModelUser, credits: number): void {
  user.balance += credits;
  user.granted += credits;
}

function setAside(user: ModelUser, credits: number, byKey: boolean): void {
  user.reserved += credits;
  if (byKey) user.key.reserved += credits;
}

function takeBack(user: ModelUser, reserved: number, charged: number, byKey: boolean): void {
  user.reserved -= reserved;
  user.balance -= charged;
  user.charged += charged;
  if (!byKey) return;
  user.key.reserved -= reserved;
  user.key.used += charged;
}

function exceedsQuota({ key }: ModelUser, credits: number): boolean {
  return key.used + key.reserved + credits > KEY_QUOTA;
}

function isFirst({ once }: Model, name: string): boolean {
  if (once.has(name)) return false;
  once.add(name);
  return true;
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new Error('there is no such item');
  return item;
}

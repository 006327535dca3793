// Commands that move money, as data: the model predicts their verdicts, the database performs them.
import fc, { type Arbitrary } from 'fast-check';

export const USERS = 2;
/** In credits: the first grant of a user, the quota of a user's key, the value of the redeem code. */
export const FIRST_GRANT = 20;
export const KEY_QUOTA = 14;
export const CODE = { credits: 5, uses: 3 };

/** Users, tasks and calls are named by number; a command about one that does not exist does nothing. */
export type Command =
  | { kind: 'grant'; user: number; credits: number; once: number }
  | { kind: 'create'; user: number; credits: number; byKey: boolean }
  | { kind: 'reserve'; task: number; late: boolean }
  | { kind: 'begin'; task: number; late: boolean }
  | { kind: 'fail'; task: number; late: boolean }
  | { kind: 'cancel'; task: number; late: boolean }
  | { kind: 'complete'; task: number; late: boolean; percent: number }
  | { kind: 'retry'; task: number }
  | { kind: 'refund'; task: number; credits: number; once: number }
  | { kind: 'redeem'; user: number }
  | { kind: 'disable code' }
  | { kind: 'disable'; user: number; isDisabled: boolean }
  | { kind: 'call'; user: number; credits: number }
  | { kind: 'settle'; call: number; percent: number }
  | { kind: 'know'; call: number; percent: number }
  /** The sweeper takes the call for abandoned; a `settle` after it comes late. */
  | { kind: 'abandon'; call: number };

const user = fc.nat(USERS - 1);
const task = fc.nat(7);
const call = fc.nat(5);
const credits = fc.integer({ min: 1, max: 16 });
/** Percentages whose shares are exact in the model's numbers. */
const percent = fc.constantFrom(0, 25, 50, 100);
const once = fc.nat(4);
/** The command comes from the attempt before, as from a slow worker. */
const late = fc.oneof(
  { weight: 5, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: fc.constant(true) },
);

type Fields<Kind extends Command['kind']> = Omit<Extract<Command, { kind: Kind }>, 'kind'>;

function of<Kind extends Command['kind']>(
  kind: Kind,
  fields: { [Name in keyof Fields<Kind>]: Arbitrary<Fields<Kind>[Name]> },
) {
  return fc.record({ ...fields, kind: fc.constant(kind) }, { noNullPrototype: true }) as Arbitrary<
    Extract<Command, { kind: Kind }>
  >;
}

const often = <Value>(arbitrary: Arbitrary<Value>) => ({ weight: 4, arbitrary });
const seldom = <Value>(arbitrary: Arbitrary<Value>) => ({ weight: 1, arbitrary });

export const anyCommand: Arbitrary<Command> = fc.oneof(
  often(of('create', { user, credits, byKey: fc.boolean() })),
  often(of('reserve', { task, late })),
  often(of('begin', { task, late })),
  often(of('complete', { task, late, percent })),
  often(of('call', { user, credits })),
  often(of('settle', { call, percent })),
  seldom(of('fail', { task, late })),
  seldom(of('cancel', { task, late })),
  seldom(of('retry', { task })),
  seldom(of('refund', { task, credits, once })),
  seldom(of('grant', { user, credits, once })),
  seldom(of('redeem', { user })),
  seldom(of('disable code', {})),
  seldom(of('disable', { user, isDisabled: fc.boolean() })),
  seldom(of('know', { call, percent })),
  seldom(of('abandon', { call })),
);

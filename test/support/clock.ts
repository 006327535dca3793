// The clock of this process as it is when it was set wrongly: ahead of all others, or behind.

const TrueDate = Date;
const readTrue = Date.now;
let shiftMs = 0;
const readShifted = (): number => readTrue() + shiftMs;

/**
 * Sets the clock ahead by so many milliseconds, or behind by a negative number, until it is set again. The
 * first call has to come before what reads the clock is made, which may keep `Date.now`.
 */
export function setClock(aheadMs: number): void {
  shiftMs = aheadMs;
  TrueDate.now = readShifted;
  globalThis.Date = new Proxy(TrueDate, {
    construct: (date, values) => Reflect.construct(date, values.length === 0 ? [readShifted()] : values),
  });
}

/** Gives the process its true clock back. */
export function restoreClock(): void {
  shiftMs = 0;
  TrueDate.now = readTrue;
  globalThis.Date = TrueDate;
}

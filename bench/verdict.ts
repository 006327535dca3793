// The verdict of a bench: goals that are met or missed, and exactness whose loss fails the run.

/** Collects and prints results. Goals are only reported; a broken exactness makes the process exit with 1. */
export class Verdict {
  atMost(what: string, value: number, goal: number, unit = ''): void {
    print(value <= goal, `${what}: ${format(value)}${unit} (goal: at most ${goal}${unit})`);
  }

  atLeast(what: string, value: number, goal: number, unit = ''): void {
    print(value >= goal, `${what}: ${format(value)}${unit} (goal: at least ${goal}${unit})`);
  }

  /** Records a condition that must hold in every run, on any machine. */
  exact(what: string, holds: boolean): void {
    print(holds, `${what} (exactness)`);
    if (!holds) process.exitCode = 1;
  }
}

function print(isMet: boolean, line: string): void {
  console.log(`${isMet ? 'met   ' : 'MISSED'}  ${line}`);
}

function format(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

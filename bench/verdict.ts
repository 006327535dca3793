// The verdict of a bench: goals that are met or missed, and exactness whose loss fails the run.

/** A judged figure: a line on the terminal, and a row of docs/performance.md. */
export interface Row {
  what: string;
  goal: string;
  measured: string;
  /** The figure of the floor in the same run; null where there is none. */
  floor: string | null;
  /** The measured figure as a multiple of the floor's; null where the goal is not about it. */
  ratio: string | null;
  /** `broken`: exactness was lost, or the bench ended with an error. */
  outcome: 'met' | 'missed' | 'broken';
}

/** A figure beside that of its floor, both in `unit`. */
export interface Comparison {
  measured: number;
  floor: number;
  unit: string;
}

/** Collects and prints rows. Goals are only reported; a broken exactness makes the process exit with 1. */
export class Verdict {
  readonly rows: Row[] = [];

  /** `floor`: the figure of the floor, for the page alone. */
  atMost(what: string, value: number, goal: number, unit = '', floor: string | null = null): void {
    const figures = { measured: `${format(value)}${unit}`, floor, ratio: null };
    this.#add({ what, goal: `at most ${goal}${unit}`, ...figures, outcome: judge(value <= goal) });
  }

  atLeast(what: string, value: number, goal: number, unit = '', floor: string | null = null): void {
    const figures = { measured: `${format(value)}${unit}`, floor, ratio: null };
    this.#add({ what, goal: `at least ${goal}${unit}`, ...figures, outcome: judge(value >= goal) });
  }

  /** Judges the ratio of the figure to its floor. */
  ratioAtMost(what: string, figures: Comparison, goal: number): void {
    const isMet = figures.measured / figures.floor <= goal;
    this.#add({ what, goal: `at most ${goal} of the floor`, ...compare(figures), outcome: judge(isMet) });
  }

  /** Judges the ratio of the figure to its floor. */
  ratioAtLeast(what: string, figures: Comparison, goal: number): void {
    const isMet = figures.measured / figures.floor >= goal;
    this.#add({ what, goal: `at least ${goal} of the floor`, ...compare(figures), outcome: judge(isMet) });
  }

  /** Judges a condition that must hold in every run, on any machine. `measured` is what it was judged by. */
  exact(what: string, holds: boolean, measured = holds ? 'holds' : 'does not hold'): void {
    const outcome = holds ? 'met' : 'broken';
    this.#add({ what, goal: 'exact', measured, floor: null, ratio: null, outcome });
    if (!holds) process.exitCode = 1;
  }

  #add(row: Row): void {
    this.rows.push(row);
    const ratio = row.ratio === null ? '' : `, ${row.ratio} of the floor's ${row.floor}`;
    const mark = row.outcome === 'met' ? 'met   ' : row.outcome.toUpperCase();
    console.log(`${mark}  ${row.what}: ${row.measured}${ratio} (goal: ${row.goal})`);
  }
}

function judge(isMet: boolean): 'met' | 'missed' {
  return isMet ? 'met' : 'missed';
}

function compare({ measured, floor, unit }: Comparison): Pick<Row, 'measured' | 'floor' | 'ratio'> {
  const ratio = (measured / floor).toFixed(2);
  return { measured: `${format(measured)}${unit}`, floor: `${format(floor)}${unit}`, ratio };
}

function format(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

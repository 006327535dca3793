// `npm run soak`: mixed load with faults, set by SOAK_SECONDS, SOAK_SEED, SOAK_LOAD and SOAK_FAULTS.
import { describeError } from '../../dev/terminal.ts';
import { startLocalSystem } from './local-system.ts';
import { readPlan } from './plan.ts';
import { printReport } from './report.ts';
import { soak } from './soak.ts';

try {
  const plan = readPlan(process.env, (line) => console.log(`· ${line}`));
  console.log(`seed ${plan.seed}: SOAK_SEED=${plan.seed} draws the same stories and faults again`);
  const report = await soak(plan, await startLocalSystem());
  printReport(report);
  process.exitCode = report.problems.length === 0 ? 0 : 1;
} catch (error) {
  console.error(describeError(error));
  process.exitCode = 1;
}

// `npm run bench -- NAME`: measures one part of the product against its floor and prints a table.
import { describeError } from '../dev/terminal.ts';
import { benchChat } from './chat.ts';
import { benchBurst } from './burst.ts';
import { benchSlowVendor } from './slow-vendor.ts';
import { benchTasks } from './tasks.ts';
import { benchWaiting } from './waiting.ts';

const BENCHES: Record<string, () => Promise<void>> = {
  tasks: benchTasks,
  chat: benchChat,
  burst: benchBurst,
  'slow-vendor': benchSlowVendor,
  waiting: benchWaiting,
};

const bench = BENCHES[process.argv[2] ?? ''];
if (bench) {
  await bench().catch((error: unknown) => {
    console.error(describeError(error));
    process.exitCode = 1;
  });
} else {
  console.error(`usage: npm run bench -- ${Object.keys(BENCHES).join(' | ')}`);
  process.exitCode = 1;
}

// All benches by name. Each measures one part of the product against its floor, and returns what it judged.
import { benchBurst } from './burst.ts';
import { benchChat } from './chat.ts';
import { benchConsole } from './console.ts';
import { benchEvents } from './events.ts';
import { benchLedger } from './ledger.ts';
import { benchNeighbours } from './neighbours.ts';
import { benchReads } from './reads.ts';
import { benchSlowVendor } from './slow-vendor.ts';
import { benchTasks } from './tasks.ts';
import type { Row } from './verdict.ts';
import { benchWaiting } from './waiting.ts';
import { benchWebhooks } from './webhooks.ts';

export const BENCHES: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  chat: benchChat,
  ledger: benchLedger,
  tasks: benchTasks,
  burst: benchBurst,
  'slow-vendor': benchSlowVendor,
  waiting: benchWaiting,
  neighbours: benchNeighbours,
  console: benchConsole,
  webhooks: benchWebhooks,
  reads: benchReads,
  events: benchEvents,
};

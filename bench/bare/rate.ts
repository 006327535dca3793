// `node bench/bare/rate.ts TOTAL CONCURRENCY`: runs bare workflows and prints, as JSON, how fast they were.
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { measure } from '../measure.ts';
import { readPlace } from './place.ts';

const [total, concurrency] = process.argv.slice(2).map(Number);
if (!total || !concurrency) throw new Error('say how many workflows, and how many of them at a time');

const { address, namespace, taskQueue } = readPlace();
const connection = await Connection.connect({ address });
const client = new Client({ connection, namespace });
const run = async (): Promise<void> => {
  await client.workflow.execute('bare', { workflowId: `bare-${randomUUID()}`, taskQueue, args: [] });
};
console.log(JSON.stringify(await measure(total, concurrency, run)));
await connection.close();

// Everything that is stored in the database and in histories, as text, to search it for leaked secrets.
import { gunzipSync } from 'node:zlib';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { TestEngine } from './servers/engine.ts';
import type { TestGateway } from './servers/gateway.ts';

/** Every column of every table, by table and column; bytes both as characters and as hex. */
export async function readWholeDatabase(gateway: TestGateway): Promise<Map<string, string>> {
  const em = gateway.em();
  const columns = await em.execute<{ table: string; column: string; type: string }[]>(`
    select c.table_name as "table", c.column_name as "column", c.data_type as type
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE'`);
  const texts = new Map<string, string>();
  for (const { table, column, type } of columns) {
    const name = `"${column}"`;
    const text =
      type === 'bytea' ? `encode(${name}, 'escape') || ' ' || encode(${name}, 'hex')` : `${name}::text`;
    const rows = await em.execute<{ text: string | null }[]>(`select ${text} as text from "${table}"`);
    texts.set(`${table}.${column}`, rows.map((row) => row.text ?? '').join('\n'));
  }
  return texts;
}

/** The history of every run in the namespace: as JSON, followed by its decoded payloads. */
export async function readAllHistories(engine: TestEngine): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for await (const { workflowId, runId } of engine.client.workflow.list()) {
    const handle = engine.client.workflow.getHandle(workflowId, runId);
    const description = await handle.describe();
    const json = historyToJSON(await handle.fetchHistory());
    const parts = [json, ...decodedPayloads(json), JSON.stringify(description.raw, writeBytes)];
    texts.set(`${workflowId} ${runId}`, parts.join('\n'));
  }
  return texts;
}

export function decodedPayloads(historyJson: string): string[] {
  return [...historyJson.matchAll(/"([A-Za-z0-9+/]{4,}={0,2})"/g)].map(([, base64]) => {
    const bytes = Buffer.from(base64 ?? '', 'base64');
    return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('latin1');
  });
}

function writeBytes(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value;
}

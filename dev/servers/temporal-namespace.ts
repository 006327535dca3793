// Creates namespaces of a Temporal server, with the search attributes that operators filter tasks by.
import { Connection } from '@temporalio/client';
import {
  encodeSearchAttributeIndexedValueType,
  type SearchAttributeType,
} from '@temporalio/common/lib/search-attributes.js';
import { msToTs } from '@temporalio/common/lib/time.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { SEARCH_ATTRIBUTES } from '../../workflows/names.ts';

export interface NamespaceOptions {
  address: string;
  namespace: string;
}

const GRPC_ALREADY_EXISTS = 6;
const RETENTION = '7 days';
const CALL_TIMEOUT_MS = 10_000;
const WORKER_TIMEOUT_MS = 60_000;

/** Creates the namespace and its search attributes where they are missing; safe to repeat. */
export async function ensureNamespace({ address, namespace }: NamespaceOptions): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: CALL_TIMEOUT_MS });
  try {
    await connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, async () => {
      await registerNamespace(connection, namespace);
      await addSearchAttributes(connection, namespace);
    });
  } finally {
    await connection.close();
  }
}

/** Waits until a worker asks for workflow tasks on the queue; false when the time is over. */
export async function waitForWorker(
  { address, namespace }: NamespaceOptions,
  taskQueue: string,
  stillWorthwhile: () => boolean,
): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: CALL_TIMEOUT_MS });
  const until = Date.now() + WORKER_TIMEOUT_MS;
  try {
    while (stillWorthwhile() && Date.now() < until) {
      const { pollers } = await connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, () =>
        connection.workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name: taskQueue },
        }),
      );
      if (pollers.length > 0) return true;
      await sleep(50);
    }
    return false;
  } finally {
    await connection.close();
  }
}

async function registerNamespace(connection: Connection, namespace: string): Promise<void> {
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(RETENTION),
    });
  } catch (error) {
    if (!hasGrpcCode(error, GRPC_ALREADY_EXISTS)) throw error;
  }
}

async function addSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(SEARCH_ATTRIBUTES).filter(({ name }) => customAttributes[name] === undefined);
  if (missing.length === 0) return;
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map(({ name, type }) => [name, numberOf(type)])),
  });
}

/** Returns Temporal's number for a type of search attribute. */
function numberOf(
  type: SearchAttributeType,
): NonNullable<ReturnType<typeof encodeSearchAttributeIndexedValueType>> {
  const encoded = encodeSearchAttributeIndexedValueType(type);
  if (encoded === undefined) throw new Error(`Temporal has no search attributes of the type ${type}.`);
  return encoded;
}

function hasGrpcCode(error: unknown, code: number): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

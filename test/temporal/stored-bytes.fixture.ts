import { createHash, createSecretKey } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { EncryptionKey } from '../../src/config.js';

const { history, workflow, workflowservice } = proto.temporal.api;
const { History } = history.v1;
const { WorkflowExecutionInfo } = workflow.v1;
const { DescribeWorkflowExecutionResponse } = workflowservice.v1;

/** A key for payloads; `fill` tells keys of the same id apart. */
export const keyOf = (id: string, fill = id): EncryptionKey => ({
  id,
  key: createSecretKey(createHash('sha256').update(fill).digest()),
});

/** Everything that the server's API tells about the workflows of a namespace, as the bytes it sends. */
export interface StoredBytes {
  histories: Buffer;
  /** Where histories hold a value that is not encrypted, with it: `…EventAttributes.result.payloads.0: "done"`. */
  plainValues: string[];
  /** What the list of workflows shows. */
  visibility: Buffer;
  /** Pending activities with their last failure and heartbeat, summary and details. */
  descriptions: Buffer;
}

/** Reads through the raw service: no codec of ours is in between. */
export async function readStoredBytes({ workflowService, options: { namespace } }: Client): Promise<StoredBytes> {
  const { executions } = await workflowService.listWorkflowExecutions({ namespace, pageSize: 1_000 });
  const runs = executions.flatMap(({ execution }) => (execution ? [execution] : []));
  const histories = await Promise.all(
    runs.map(async (execution) => {
      const { history } = await workflowService.getWorkflowExecutionHistory({ namespace, execution });
      return History.fromObject(history ?? {});
    }),
  );
  const descriptions = runs.map(async (execution) =>
    DescribeWorkflowExecutionResponse.encode(
      await workflowService.describeWorkflowExecution({ namespace, execution }),
    ).finish(),
  );
  return {
    histories: Buffer.concat(histories.map((events) => History.encode(events).finish())),
    plainValues: [...new Set(histories.flatMap(({ events }) => events.flatMap((event) => plainValues(event))))],
    visibility: Buffer.concat(executions.map((info) => WorkflowExecutionInfo.encode(info).finish())),
    descriptions: Buffer.concat(await Promise.all(descriptions)),
  };
}

/** Paths and values of all payloads below a message whose encoding is not that of the codec. */
function plainValues(message: object): string[] {
  return Object.entries(message).flatMap(([name, value]) => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
    if ('metadata' in value && 'data' in value) return plainValue(value).map((text) => `${name}: ${text}`);
    return plainValues(value).map((path) => `${name}.${path}`);
  });
}

const plainValue = ({ metadata, data }: Payload): string[] =>
  textOf(metadata?.encoding) === 'binary/encrypted' ? [] : [textOf(data)];

const textOf = (bytes: Uint8Array | null = null): string => Buffer.from(bytes ?? []).toString();

/** All bytes of a server's SQLite database with its write-ahead log. */
export async function readDatabase(dbFile: string): Promise<Buffer> {
  const names = (await readdir(dirname(dbFile))).filter((name) => join(dirname(dbFile), name).startsWith(dbFile));
  return Buffer.concat(await Promise.all(names.map((name) => readFile(join(dirname(dbFile), name)))));
}

/** Those of the texts that occur in the bytes. */
export const foundIn = (bytes: Buffer, texts: readonly string[]): string[] =>
  texts.filter((text) => bytes.includes(text));

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { batchWorkflowId, DEFAULT_ACCOUNT } from '../src/contract/names.js';
import { canary } from './canaries.js';
import type { Choice } from './evidence/evidence.js';
import { restartWorkers } from './healing.js';
import type { PlannedOrder } from './inputs.js';
import type { ChaosStack } from './stack.js';

const ROWS = 12;
const FILE = 'payroll.csv';
const COLUMNS = ['order_id', 'currency', 'network', 'amount', 'wallet', 'description', 'client_info.client_email'];
/** A batch that is not over after this long has failed. */
export const BATCH_WITHIN_MS = 5 * 60_000;
const LOOK_EVERY_MS = 500;

/** What a batch is made of; `said` is what people say of it. */
export interface PlannedBatch {
  batchId: string;
  rows: readonly PlannedOrder[];
  said: { startedBy: string; approvedBy: string };
}

/** The batch of a run. */
export function planBatch(seed: string): PlannedBatch {
  const batchId = `chaos-${seed}-batch`;
  const rows = Array.from({ length: ROWS }, (_, index) => rowOf(`${batchId}-${index + 1}`));
  const said = {
    startedBy: canary('who started a batch', batchId),
    approvedBy: canary('who approved a batch', batchId),
  };
  return { batchId, rows, said };
}

function rowOf(orderId: string): PlannedOrder {
  const order = {
    ...{ order_id: orderId, currency: 'usd', network: 'card', amount: '12.50' },
    wallet: canary('a Visa number', orderId),
    description: canary('words of a description', orderId),
    client_info: { client_email: canary("a client's e-mail", orderId) },
  };
  return { orderId, type: 'withdraw', input: { order, compensation: 'report' } };
}

/** Has a file planned, approved and sent while workers are killed; returns the approval. Throws when that comes to no end. */
export async function runBatch(stack: ChaosStack, { batchId, rows, said }: PlannedBatch): Promise<Choice> {
  await stack.accounts.setRight();
  await restartWorkers(stack);
  await writeFile(join(stack.batchDir, FILE), csvOf(rows), { mode: 0o600 });
  const batch = await stack.orders.batches.start({
    ...{ batchId, file: { path: FILE }, approval: 'required', compensation: 'report', startedBy: said.startedBy },
  });
  const until = AbortSignal.timeout(BATCH_WITHIN_MS);
  const planned = async () => (await batch.state()).plan?.digest;
  let digest = await planned();
  for (; digest === undefined; digest = await planned()) await sleep(LOOK_EVERY_MS, undefined, { signal: until });
  await batch.approve({ digest, by: said.approvedBy });
  await sleep(LOOK_EVERY_MS);
  await restartWorkers(stack);
  await batch.result({ timeoutMs: BATCH_WITHIN_MS });
  return { event: 'approve', workflowId: batchWorkflowId(DEFAULT_ACCOUNT, batchId) };
}

/** Lines of a batch file. */
export const csvOf = (rows: readonly PlannedOrder[]): string =>
  [COLUMNS.join(','), ...rows.map(({ input }) => lineOf(input)), ''].join('\n');

function lineOf({ order }: PlannedOrder['input']): string {
  const { client_info: client, ...fields } = order;
  const values: Record<string, unknown> = { ...fields, 'client_info.client_email': client?.client_email };
  return COLUMNS.map((name) => `${values[name]}`).join(',');
}

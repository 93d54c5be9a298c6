import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_ACCOUNT, orderWorkflowId } from '../src/contract/ids.js';
import type { Evidence } from './evidence/evidence.js';
import { ROOT } from './product.js';
import type { Judged } from './report.js';
import type { ChaosStack } from './stack.js';

/** Histories kept at most: enough to find the cause. */
const MAX_HISTORIES = 50;

/** The folder of a run; outside of git. */
export const folderOf = (seed: string): string => join(ROOT, '.chaos', seed);

/** Writes down what is needed to understand a failure, beside the journals and logs that are in the folder already. */
export async function keepEvidence(
  folder: string,
  stack: ChaosStack,
  evidence: Evidence,
  judged: readonly Judged[],
): Promise<void> {
  const json = (name: string, value: unknown) => writeFile(join(folder, name), JSON.stringify(value, readable, 2));
  const { service, ledger, followed } = evidence;
  await json('findings.json', judged);
  await json('ledger.json', ledger);
  await json('service-orders.json', service);
  await json('followed.json', [...followed.values()]);
  await mkdir(join(folder, 'histories'), { recursive: true });
  const offenders = new Set(judged.flatMap(({ findings }) => findings.flatMap(({ orderId }) => orderId ?? [])));
  for (const orderId of [...offenders].slice(0, MAX_HISTORIES)) {
    const handle = stack.client.workflow.getHandle(orderWorkflowId(DEFAULT_ACCOUNT, orderId));
    const history = await handle.fetchHistory().catch(() => undefined);
    if (history) await json(join('histories', `${orderId}.json`), history);
  }
  await rm(join(folder, 'dist'), { recursive: true, force: true });
}

/** Payloads as the text they hold; without it JSON shows numbers. */
function readable(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value;
}

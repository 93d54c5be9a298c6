import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PayloadCodec } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { DEFAULT_ACCOUNT, orderWorkflowId } from '../src/contract/names.js';
import type { Evidence } from './evidence/evidence.js';
import { payloadsOf } from './evidence/texts.js';
import { ROOT } from './product.js';
import type { Judged } from './report.js';
import type { ChaosStack } from './stack.js';

/** Histories kept at most: enough to find the cause. */
const MAX_HISTORIES = 50;

/** The folder of a run; outside of git. */
export const folderOf = (seed: string): string => join(ROOT, '.chaos', seed);

const EXPLANATION = `What this run left:
requested.ndjson      every start and when Temporal took it
sandbox/              the service's journal (orders, ledger) and every request and callback
temporal.db           the server's database with all histories; with --postgres the folders postgres and config
logs/                 what the processes printed
batches/, reports/    the batch file, and what the batch and the reconciliation wrote
findings.json         what the oracle found, once it was asked; beside it the ledger, the service's orders, our verdicts
histories/            the histories of the orders it found something about
`;

/** How a run ends. */
export type End = 'clean' | 'failed' | 'interrupted';

/** Runs, tells how it ended, keeps the folder of a run that is not clean, and ends the process. `files`: what else it wrote. */
export async function runToEnd(folder: string, run: () => Promise<End>, files = ''): Promise<never> {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const startedAt = performance.now();
  const ended = await run().catch((error: unknown): End => {
    process.stderr.write(`${error instanceof Error ? error.stack : 'the run failed'}\n`);
    return 'failed';
  });
  print(`${ended} after ${Math.round((performance.now() - startedAt) / 1_000)} s${files}`);
  if (ended === 'clean') await removeFolder(folder);
  else {
    await explainFolder(folder);
    print(`kept: ${folder} (README.txt there says what is what)`);
  }
  process.exit({ clean: 0, failed: 1, interrupted: 130 }[ended]);
}

/** Says in the folder of a run what is in it; drops the compiled product, which can be made again. */
async function explainFolder(folder: string): Promise<void> {
  await rm(join(folder, 'dist'), { recursive: true, force: true });
  await writeFile(join(folder, 'README.txt'), EXPLANATION);
}

/** Removes the folder of a run, and the one that holds all of them when it was the last. */
async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  // Not empty: another run is under way or was kept.
  await rmdir(dirname(folder)).catch(() => undefined);
}

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
    if (history) await json(join('histories', `${orderId}.json`), await decrypted(history, stack.codec));
  }
}

/** Nobody has the key any more once the run is over: what is kept is kept in the clear. */
async function decrypted(history: History, codec: PayloadCodec): Promise<History> {
  for (const payload of payloadsOf(history)) Object.assign(payload, (await codec.decode([payload]))[0]);
  return history;
}

/** Payloads as the text they hold; without it JSON shows numbers. */
function readable(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value;
}

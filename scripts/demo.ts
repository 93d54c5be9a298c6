/** `npm run demo`: brings everything up, runs orders of all six types, a receipt and a scheduled batch, prints what became of them, exits 0 or 1. */
import { Client, Connection } from '@temporalio/client';
import { PaymentOrders } from '../src/client.js';
import { runReceipt } from './demo/receipt.js';
import { type Outcome, runScenarios } from './demo/run-scenarios.js';
import { scenarios } from './demo/scenarios.js';
import { BATCH_ROWS, type BatchOutcome, runScheduledBatch } from './demo/scheduled-batch.js';
import { startStack } from './demo/stack.js';
import { step } from './demo/step.js';
import { outcomeTable } from './demo/table.js';

const stack = await startStack().catch(giveUp);
process.once('SIGINT', () => void stack.stop().then(() => process.exit(130)));
try {
  process.exitCode = await Promise.race([runDemo(), stack.failed]);
} finally {
  await stack.stop();
}

async function runDemo(): Promise<number> {
  const { address, namespace, uiUrl } = stack.temporal;
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const orders = new PaymentOrders(client);
  const runId = Date.now().toString(36);
  const all = scenarios(runId);
  const outcomes = await step(`${all.length} orders of six types`, (log) =>
    runScenarios(client, orders, all, stack.sandbox.adminUrl, (ended) => log(`${ended} of ${all.length} ended`)),
  );
  const receipt = await step('A deposit on a permanent address', () =>
    runReceipt(orders, stack.sandbox.adminUrl, runId),
  );
  outcomes.push(receipt);
  const batch = await step(`A scheduled batch of ${BATCH_ROWS} rows, approved by a second person`, (log) =>
    runScheduledBatch(orders, stack, runId, log),
  );
  const linkTo = ({ workflowId, runId }: Pick<Outcome, 'workflowId' | 'runId'>) =>
    `${uiUrl ?? 'Temporal UI:'}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}/${runId}`;
  process.stdout.write(`${outcomeTable(outcomes, linkTo)}\n`);
  process.stdout.write(`${batch.wrong.length === 0 ? '✔' : '✘'} ${batch.summary}\n  ${linkTo(batch)}\n`);
  await connection.close();
  return report(outcomes, batch);
}

function report(outcomes: readonly Outcome[], batch: BatchOutcome): number {
  const wrong = outcomes.filter((outcome) => outcome.wrong.length > 0);
  for (const outcome of wrong) process.stdout.write(`✘ ${outcome.orderId}: ${outcome.wrong.join('; ')}\n`);
  for (const difference of batch.wrong) process.stdout.write(`✘ batch: ${difference}\n`);
  const allRight = wrong.length === 0 && batch.wrong.length === 0;
  process.stdout.write(
    allRight
      ? 'All orders ended as they should. Run `npm run dev` and open the links: it stays, and shows these orders too.\n'
      : `${wrong.length} of ${outcomes.length} orders ended otherwise than they should${batch.wrong.length > 0 ? ', and so did the batch' : ''}.\n`,
  );
  return allRight ? 0 : 1;
}

/** Nothing is running any more: the message says what to mend, a stack trace would hide it. */
function giveUp(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

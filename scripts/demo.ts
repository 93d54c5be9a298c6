/** `npm run demo`: brings everything up, runs orders of all six types, prints what became of them, exits 0 or 1. */
import { Client, Connection } from '@temporalio/client';
import { PaymentOrders } from '../src/client.js';
import { type Outcome, runScenarios } from './demo/run-scenarios.js';
import { scenarios } from './demo/scenarios.js';
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
  const all = scenarios(Date.now().toString(36));
  const outcomes = await step(`${all.length} orders of six types`, (log) =>
    runScenarios(client, orders, all, stack.sandbox.adminUrl, (ended) => log(`${ended} of ${all.length} ended`)),
  );
  const linkTo = ({ workflowId, runId }: Outcome) =>
    `${uiUrl ?? 'Temporal UI:'}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}/${runId}`;
  process.stdout.write(`${outcomeTable(outcomes, linkTo)}\n`);
  await connection.close();
  return report(outcomes);
}

function report(outcomes: readonly Outcome[]): number {
  const wrong = outcomes.filter((outcome) => outcome.wrong.length > 0);
  for (const outcome of wrong) process.stdout.write(`✘ ${outcome.orderId}: ${outcome.wrong.join('; ')}\n`);
  process.stdout.write(
    wrong.length === 0
      ? 'All orders ended as they should. Run `npm run dev` and open the links: it stays, and shows these orders too.\n'
      : `${wrong.length} of ${outcomes.length} orders ended otherwise than they should.\n`,
  );
  return wrong.length === 0 ? 0 : 1;
}

/** Nothing is running any more: the message says what to mend, a stack trace would hide it. */
function giveUp(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

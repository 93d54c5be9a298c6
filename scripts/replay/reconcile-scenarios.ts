import { ORDERS_TASK_QUEUE, RECONCILE_WORKFLOW, reconcileWorkflowId } from '../../src/contract/names.js';
import type { ReconcileInput } from '../../src/contract/reconcile/reconcile.js';
import type { Installation } from './installation.js';
import { input, type Scenario } from './scenarios.js';

/** One reconciliation; ids with a suffix are those of scheduled runs. */
const scenario = (
  name: string,
  suffix: string,
  argument: ReconcileInput,
  before?: (installation: Installation) => Promise<unknown>,
): Scenario => ({
  name,
  run: async (installation) => {
    await before?.(installation);
    const workflowId = `${reconcileWorkflowId('default')}${suffix}`;
    const options = { taskQueue: ORDERS_TASK_QUEUE, workflowId, args: [argument] };
    await installation.client.workflow.execute(RECONCILE_WORKFLOW, options).catch(() => undefined);
    return workflowId;
  },
});

/** An order that is open for long enough to be too old. */
async function startSlowOrder({ orders }: Installation): Promise<void> {
  const handle = await orders.start('withdraw', input('withdraw', 'reconciled-while-open', 'after_ms=8000'));
  await handle.created();
}

/** Reconciliations: all is well, something needs a person, and one that cannot be asked for. */
export const RECONCILE_SCENARIOS: Scenario[] = [
  scenario('reconcile', '', {}),
  scenario('reconcile-attention', '-2026-11-21T10:00:00Z', { openTooLongMs: 1 }, startSlowOrder),
  scenario('reconcile-invalid', '-2026-11-22T10:00:00Z', { from: 'yesterday' }),
];

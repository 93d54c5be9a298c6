import { canaryWorkflowId } from '../../src/contract/names.js';
import type { Canary } from '../../src/contract/order/canary.js';
import type { Installation } from './installation.js';
import { input, type Scenario } from './scenarios.js';

/** Setting of the account of these scenarios. */
export const CANARY: Canary = { currency: 'usd', network: 'card', amount: '20', countsFor: ['withdraw'] };

/** Ends a payout that the service did not execute, on an account where nobody else pays. */
async function payBehindCanary({ orders }: Installation, name: string): Promise<string> {
  const handle = await orders.start('withdraw', input('withdraw', name, 'create=503-before'));
  await handle.result();
  return handle.workflowId;
}

/** An order in doubt that a canary lets go on, and the workflow of the canary. */
export const CANARY_SCENARIOS: readonly Scenario[] = [
  {
    name: 'behind-canary',
    alone: true,
    run: (installation) => payBehindCanary(installation, 'behind-canary'),
  },
  {
    name: 'canary',
    alone: true,
    run: async (installation) => {
      await payBehindCanary(installation, 'canary');
      const canary = installation.client.workflow.getHandle(canaryWorkflowId('default'));
      await canary.result();
      return canary.workflowId;
    },
  },
];

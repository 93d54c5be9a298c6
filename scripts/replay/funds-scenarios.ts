import { setTimeout as sleep } from 'node:timers/promises';
import { fundsLineWorkflowId } from '../../src/contract/names.js';
import type { OrderState } from '../../src/contract/order/messages.js';
import type { Installation } from './installation.js';
import { input, type Scenario } from './scenarios.js';

const ACCOUNT = 'default';
const ENOUGH = { balances: { usd: '100000000' } };

/** Starts a payout while the balance is short, and pays in once the state fits. */
async function payLate(
  { orders, sandbox }: Installation,
  name: string,
  whenShort: 'ask' | 'wait',
  fits: (state: OrderState) => boolean,
): Promise<string> {
  sandbox.set({ balances: { usd: '1' } });
  const handle = await orders.start('withdraw', input('withdraw', name, '', { whenShort }));
  let state = await handle.state();
  while (!fits(state)) {
    await sleep(100);
    state = await handle.state();
  }
  sandbox.set(ENOUGH);
  const { revision, attention } = state;
  const { amount, currency } = attention ?? {};
  const decision = { by: 'operator', reason: 'recorded', revision };
  if (whenShort === 'ask') await handle.decide({ ...decision, action: 'approve', amount, currency });
  await handle.result();
  return handle.workflowId;
}

const isMissing = ({ waitingFor }: OrderState): boolean => waitingFor.includes('missing');

/** Orders that ask or wait while the balance is short, and the line of the account. */
export const FUNDS_SCENARIOS: readonly Scenario[] = [
  {
    name: 'funds-asked',
    alone: true,
    run: (installation) => payLate(installation, 'funds-asked', 'ask', ({ phase }) => phase === 'parked'),
  },
  {
    name: 'funds-waited',
    alone: true,
    run: (installation) => payLate(installation, 'funds-waited', 'wait', isMissing),
  },
  {
    name: 'funds-line',
    alone: true,
    run: async (installation) => {
      await payLate(installation, 'funds-line', 'wait', isMissing);
      const line = installation.client.workflow.getHandle(fundsLineWorkflowId(ACCOUNT));
      await line.result();
      return line.workflowId;
    },
  },
];

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { policyWorkflowId } from '../../src/contract/names.js';
import type { Installation } from './installation.js';
import { input, type Scenario } from './scenarios.js';

/** Writes a POLICY_FILE that lets no payout of the demo through. */
export async function writePolicy(folder: string): Promise<string> {
  const path = join(folder, 'policy.json');
  const rule = { rule: 'sum', per: 'day', currency: 'usd', max: '1', breach: 'park' };
  await writeFile(path, JSON.stringify({ accounts: { default: [rule] } }), { mode: 0o600 });
  return path;
}

async function payAbove({ orders }: Installation, name: string): Promise<string> {
  const handle = await orders.start('withdraw', input('withdraw', name));
  let state = await handle.state();
  while (state.phase !== 'parked') {
    await sleep(100);
    state = await handle.state();
  }
  await handle.decide({ action: 'approve', by: 'operator', reason: 'recorded', revision: state.revision });
  await handle.result();
  return handle.workflowId;
}

/** An order that the policy parks, and the workflow that keeps the sums, until it is lost. */
export const POLICY_SCENARIOS: readonly Scenario[] = [
  { name: 'policy-approved', alone: true, run: (installation) => payAbove(installation, 'policy-approved') },
  {
    name: 'policy-sums',
    alone: true,
    run: async (installation) => {
      await payAbove(installation, 'policy-sums');
      const sums = installation.client.workflow.getHandle(policyWorkflowId('default'));
      // It checks the order that a person let through.
      await sleep(12_000);
      await sums.terminate('recorded');
      return sums.workflowId;
    },
  },
];

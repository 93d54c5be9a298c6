import { expect, test } from 'vitest';
import { BatchWarnings } from '../../src/activities/batch/plan/warnings.js';
import { PolicyPlan } from '../../src/activities/policy/plan.js';
import type { Policy } from '../../src/config.js';
import { judge, openLedger, type PolicyQuestion, reserveOrder } from '../../src/contract/policy/ledger.js';

const policy: Policy = { rules: [{ rule: 'sum', per: 'day', currency: 'usd', max: '100', breach: 'park' }] };

test.for(['batch', 'a', 'plan', '0'])('the plan of a batch counts besides an open order with the id %s', async (id) => {
  const ledger = openLedger();
  reserveOrder(ledger, id, [['usd', '60']], Date.now());
  const policyDesk = { ask: async (_: string, question: PolicyQuestion) => judge(ledger, question, Date.now()) };
  const warnings = new BatchWarnings();
  const plan = new PolicyPlan({ policies: new Map([['default', policy]]), policyDesk } as never, 'default', warnings);
  plan.add(2, { order_id: 'row', currency: 'usd', network: 'card', amount: '50', wallet: '4111111111111111' });
  await plan.warnOfSums();
  expect(warnings.shown).toEqual([
    {
      rows: [],
      reason:
        'the policy, usd per day: the total would be 110 usd, and at most 100 usd are allowed; a row above it waits for a person',
    },
  ]);
});

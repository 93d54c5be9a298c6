import { activityInfo, getClient } from '@temporalio/activity';
import { describeRun } from '../../client/standing.js';
import { type Amount, decimal, decimalOrZero } from '../../contract/money.js';
import type { FundsLook, LookAtFundsInput } from '../../contract/order/funds.js';
import type { Balances } from '../../contract/service-objects.js';
import { type ActivityDeps, accountOf } from '../deps.js';
import { comeBackIn, retryLater } from '../failures.js';
import { balanceEffect } from './balances.js';
import { pollDelayMs } from './poll-order.js';

/** Reads the balance for all orders of an account that wait for funds, ever more seldom. */
export function lookAtFundsActivity(deps: ActivityDeps) {
  return async function lookAtFunds(input: LookAtFundsInput): Promise<FundsLook> {
    const { account, currencies, workflowIds, enough } = input;
    const { service } = accountOf(deps, account);
    const delayMs = pollDelayMs(deps.pace, activityInfo().attempt);
    try {
      const balances = await service.balances();
      const shown = Object.fromEntries(currencies.map((currency) => [currency, amountIn(balances, currency)]));
      const gone = await closedOf(workflowIds);
      const covers = ([currency, least]: [string, Amount]) => {
        const balance = shown[currency];
        return balance != null && decimal(balance).gte(least);
      };
      if (!enough || gone.length > 0 || Object.entries(enough).some(covers)) return { balances: shown, gone };
    } catch (error) {
      throw retryLater(error, delayMs);
    }
    throw comeBackIn(delayMs, 'the balance covers no order that waits');
  };
}

const amountIn = (balances: Balances, currency: string) =>
  balanceEffect(balances, currency, decimalOrZero('0')).balanceBefore;

/** Returns the workflows that are closed. They left the line only if they were not terminated. */
async function closedOf(workflowIds: readonly string[]): Promise<string[]> {
  const runs = await Promise.all(workflowIds.map((id) => describeRun(getClient(), id)));
  return workflowIds.filter((_, index) => runs[index]?.status.name !== 'RUNNING');
}

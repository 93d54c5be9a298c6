import { activityInfo } from '@temporalio/activity';
import { describeFieldErrors } from '../../contract/failures.js';
import { maskName } from '../../contract/masking.js';
import { decimal, toAmount } from '../../contract/money.js';
import type { CheckFollowUpInput, FollowUpCheck } from '../../contract/order/activities.js';
import type { Rates } from '../../contract/service-objects.js';
import { validateOrderInput } from '../../validation/order-input.js';
import { checkAgainstRates, payersOf, rateEntryOf, rateKeyOf, uncheckableBy } from '../../validation/rate-checks.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { noReading, retryOrTell } from '../failures.js';
import { shortfall, unreadableBalance } from './balances.js';

/**
 * Checks a follow-up against fresh rates and balances; returns who pays commissions. Sends nothing.
 */
export function checkFollowUpActivity(deps: ActivityDeps) {
  return async function checkFollowUp(input: CheckFollowUpInput): Promise<FollowUpCheck> {
    const account = accountOf(deps, input.account);
    try {
      return { ...(await checkNow(account, input)), runId: activityInfo().workflowExecution?.runId };
    } catch (error) {
      throw retryOrTell(error, account);
    }
  };
}

async function checkNow(account: Account, input: CheckFollowUpInput): Promise<FollowUpCheck> {
  const { type, request, order } = input;
  // A mistyped wallet is refused here, which costs no order id and no failed follow-up.
  const checked = validateOrderInput(type, { order: request }, { followUp: true, formatChecks: account.formatChecks });
  if ('errors' in checked) return refused(describeFieldErrors(checked.errors));
  const rates = await account.service.rates();
  // Without readable rates, the follow-up is neither offered nor refused.
  const unreadable = uncheckableBy(rates, type, request) ?? uncheckableBy(rates, order.type, order.request);
  if (unreadable) throw noReading(unreadable);
  const orderPayers = payersOf(rates, order.type, order.request);
  return { ...(await checkAgainst(account, rates, input)), ...(orderPayers && { orderPayers }) };
}

async function checkAgainst(
  account: Account,
  rates: Rates,
  { type, request }: CheckFollowUpInput,
): Promise<FollowUpCheck> {
  const entry = rateEntryOf(rates, type, request);
  if (!entry) return refused(`the pair ${maskName(rateKeyOf(type, request))} is not offered now`);
  const amount = decimal(request.amount ?? '0');
  if (amount.lt(decimal(entry.min_amount_from))) {
    const reason = `${toAmount(amount)} is below the minimum of ${entry.min_amount_from} for ${rateKeyOf(type, request)}`;
    return { kind: 'belowMinimum', reason };
  }
  const errors = checkAgainstRates(type, request, rates);
  if (errors.length > 0) return refused(describeFieldErrors(errors));
  const balances = await account.service.balances();
  const unknown = unreadableBalance(balances, type, request);
  if (unknown) throw noReading(unknown);
  const lacking = shortfall(balances, rates, type, request);
  const payers = payersOf(rates, type, request);
  return { ...(lacking ? refused(lacking) : { kind: 'ok' as const }), ...(payers && { payers }) };
}

const refused = (reason: string): FollowUpCheck => ({ kind: 'refused', reason });

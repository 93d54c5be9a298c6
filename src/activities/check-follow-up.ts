import type { CheckFollowUpInput, FollowUpCheck } from '../contract/answers.js';
import { describeFieldErrors } from '../contract/failures.js';
import { decimal, toAmount } from '../contract/money.js';
import { checkAgainstRates, rateKeyOf } from '../contract/rate-checks.js';
import { accountOf } from './account-of.js';
import { readBalances, shortfall } from './balances.js';
import type { ActivityDeps } from './deps.js';
import { retryLater } from './failures.js';
import { rateEntryOf } from './shared-rates.js';

/** Asks fresh rates and balances whether a follow-up would be accepted and can be paid for. Sends nothing. */
export function checkFollowUpActivity(deps: ActivityDeps) {
  return async function checkFollowUp({ account: name, type, request }: CheckFollowUpInput): Promise<FollowUpCheck> {
    const account = accountOf(deps, name);
    try {
      const rates = await account.service.rates();
      const entry = rateEntryOf(rates, type, request);
      if (!entry) return refused(`the pair ${rateKeyOf(type, request)} is not offered now`);
      const amount = decimal(request.amount ?? '0');
      if (amount.lt(decimal(entry.min_amount_from))) {
        const reason = `${toAmount(amount)} is below the minimum of ${entry.min_amount_from} for ${rateKeyOf(type, request)}`;
        return { kind: 'belowMinimum', reason };
      }
      const errors = checkAgainstRates(type, request, rates);
      if (errors.length > 0) return refused(describeFieldErrors(errors));
      const lacking = shortfall(await readBalances(account), entry, type, request);
      return lacking ? refused(lacking) : { kind: 'ok' };
    } catch (error) {
      throw retryLater(error);
    }
  };
}

const refused = (reason: string): FollowUpCheck => ({ kind: 'refused', reason });

import type Big from 'big.js';
import type { CheckFollowUpInput, FollowUpCheck } from '../contract/answers.js';
import { describeFieldErrors } from '../contract/failures.js';
import { decimal, decimalOrZero, toAmount } from '../contract/money.js';
import { orderSides } from '../contract/order-sides.js';
import { checkAgainstRates, rateKeyOf } from '../contract/rate-checks.js';
import type { RateEntry } from '../contract/service-objects.js';
import { accountOf } from './account-of.js';
import type { ActivityDeps } from './deps.js';
import { retryLater } from './failures.js';
import { rateEntryOf } from './shared-rates.js';

/** Asks fresh rates and balances whether a follow-up would be accepted and can be paid for. Sends nothing. */
export function checkFollowUpActivity(deps: ActivityDeps) {
  return async function checkFollowUp({ account: name, type, request }: CheckFollowUpInput): Promise<FollowUpCheck> {
    const { service } = accountOf(deps, name);
    try {
      const rates = await service.rates();
      const entry = rateEntryOf(rates, type, request);
      if (!entry) return refused(`the pair ${rateKeyOf(type, request)} is not offered now`);
      const amount = decimal(request.amount ?? '0');
      if (amount.lt(decimal(entry.min_amount_from))) {
        const reason = `${toAmount(amount)} is below the minimum of ${entry.min_amount_from} for ${rateKeyOf(type, request)}`;
        return { kind: 'belowMinimum', reason };
      }
      const errors = checkAgainstRates(type, request, rates);
      if (errors.length > 0) return refused(describeFieldErrors(errors));
      const { currencyFrom } = orderSides(type, request);
      const balances = await service.balances();
      const available = Object.hasOwn(balances, currencyFrom)
        ? decimalOrZero(balances[currencyFrom]?.amount)
        : decimal('0');
      const needed = amount.plus(highestFee(entry, amount));
      if (available.gte(needed)) return { kind: 'ok' };
      return refused(
        `the balance of ${toAmount(available)} ${currencyFrom} is less than ${toAmount(needed)} (with fees)`,
      );
    } catch (error) {
      throw retryLater(error);
    }
  };
}

const refused = (reason: string): FollowUpCheck => ({ kind: 'refused', reason });

/** fixed + max(percent, min) of both sides: an upper estimate, whoever pays it. */
function highestFee(entry: RateEntry, amount: Big): Big {
  const side = (fixed: string | null, percent: string | null, min: string | null) => {
    const byPercent = amount.times(decimalOrZero(percent)).times('0.01');
    const least = decimalOrZero(min);
    return decimalOrZero(fixed).plus(byPercent.gt(least) ? byPercent : least);
  };
  const from = side(entry.fixed_fee_amount_from, entry.fee_percent_from, entry.min_fee_amount_from);
  const sameCurrency = entry.currency_from === entry.currency_to;
  const to = side(entry.fixed_fee_amount_to, entry.fee_percent_to, entry.min_fee_amount_to);
  return sameCurrency ? from.plus(to) : from;
}

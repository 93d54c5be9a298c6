import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { CreateAnswer, CreateOrderInput } from '../contract/order/activities.js';
import { isRefused } from '../contract/refused.js';
import { PayloadDecryptionError } from '../temporal.js';

/**
 * Refuses an activity with a refused input. Reports a refused heartbeat, which activities ignore.
 */
export const refuseForeign: ActivityInterceptorsFactory = ({ info, log }) => ({
  inbound: {
    execute: async (input, next) => {
      if (isRefused(info.heartbeatDetails)) {
        log.warn('a heartbeat was refused: something without the payload keys reaches Temporal');
      }
      const refused = input.args.find(isRefused);
      if (refused) throw new PayloadDecryptionError(refused.why, refused.kind);
      return next(input);
    },
  },
});

/**
 * Counts the verdicts of creates: `uncertain` ones, and those sent again by the permission
 * `absent`.
 */
export const countCreates: ActivityInterceptorsFactory = ({ info, metricMeter }) => ({
  inbound: {
    execute: async (input, next) => {
      const answer = await next(input);
      if (info.activityType !== 'createOrder') return answer;
      const { type, account, permission } = input.args[0] as CreateOrderInput;
      const { kind: verdict } = answer as CreateAnswer;
      metricMeter
        .createCounter('payment_orders_create_attempts_total', undefined, 'create attempts that ended')
        .add(1, { type, account, permission, verdict });
      return answer;
    },
  },
});

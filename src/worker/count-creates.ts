import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { CreateAnswer, CreateOrderInput } from '../contract/order/activities.js';

/** Counts what became of creates: `uncertain` ones by verdict, those sent again by the permission `absent`. */
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

import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { isRefused } from '../contract/refused.js';
import { PayloadDecryptionError } from '../temporal.js';

/** Stands before every activity: none runs on an input that was refused. A heartbeat that was is told; activities take it for none. */
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

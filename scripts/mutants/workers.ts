import type { Mutant } from './mutant.js';

const KEPT = 'test/workflows/ask/limits-kept.nightly.test.ts';
const STRICTEST = 'test/activities/strictest.test.ts';

/** Mistakes about several workers of one account, a namespace that fails over, and stops. */
export const WORKER_MUTANTS: readonly Mutant[] = [
  {
    name: 'settings of other workers do not count',
    file: 'src/activities/protections.ts',
    find: 'deps.others?.(name) ?? []',
    replacement: '[] as ReturnType<NonNullable<typeof deps.others>>',
    test: { file: STRICTEST, name: 'the strictest setting of all workers holds the longest windows and confirm delay' },
  },
  {
    name: 'a failover between the probe and the send is not seen',
    file: 'src/activities/order/create-order.ts',
    find: 'if (await tooSoonAfterRestore(deps, account, attempt.type)) throw',
    replacement: 'if (deadline.leftToWaitMs() < 0) throw',
    test: {
      file: STRICTEST,
      name: 'a failover that is seen between the probe and the send keeps the create from being sent',
    },
  },
  {
    name: 'a run takes the window of whichever worker answers',
    file: 'src/contract/order/stricter.ts',
    find: 'stricterPace(before.pace, now.pace)',
    replacement: 'stricterPace(undefined, answer.pace)',
    test: {
      file: KEPT,
      name: 'absence is proven over the window that the order was sent under, though a worker with a short one goes on',
    },
  },
  {
    name: 'a run forgets the cap that an attempt was given',
    file: 'src/workflows/create/attempt.ts',
    find: '...(run.strictest.caps && { caps: run.strictest.caps }),',
    replacement: '',
    test: {
      file: KEPT,
      name: 'a cap that an attempt was given holds for the next one, though a worker without caps makes it',
    },
  },
  {
    name: 'D140: a start of its id replaces a stop',
    file: 'src/client/accounts.ts',
    find: 'if (run?.stop !== undefined) return run.stop ?? undefined;',
    replacement: 'void run;',
    test: {
      file: 'test/workflows/stops/replaced-stop.server.test.ts',
      name: 'a start without a key replaces no stop',
    },
  },
  {
    name: 'D141: a signed stop is resumed unsigned',
    file: 'src/workflows/account-stop.ts',
    find: '...(run.stop?.keyId && { required: true }),',
    replacement: '',
    test: {
      file: 'test/workflows/stops/held-order.server.test.ts',
      name: 'where the account has approvers a signed stop is resumed by a signature alone, also by workers that lost their APPROVERS_FILE',
    },
  },
];

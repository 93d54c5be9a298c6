import { BATCH_MUTANTS } from './batches.js';
import { DECISION_MUTANTS } from './decisions.js';
import { HOLE_MUTANTS } from './holes.js';
import { KEY_MUTANTS } from './keys.js';
import type { Mutant } from './mutant.js';
import { REMAINDER_MUTANTS } from './remainders.js';
import { RESTORE_MUTANTS } from './restore.js';
import { WORKER_MUTANTS } from './workers.js';

const everyOneKeeps = (combination: string): Mutant['test'] => ({
  file: 'test/model/create-model.test.ts',
  name: `of every state that can be reached every one keeps every invariant: ${combination}`,
});

/** Every mutant; each stands for a way in which money or a secret would be lost. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a start again follows whatever run is the newest by then',
    file: 'src/client/start-order.ts',
    find: '...startAfter(ended.runId),',
    replacement: '',
    test: {
      file: 'test/workflows/create/refused-and-again.nightly.test.ts',
      name: 'an order that two start again at once, the second with what it read before the first is sent once: the second finds the run that the first one started',
    },
  },
  {
    name: 'any deposit is a later order of a payout',
    file: 'src/activities/order/witnesses.ts',
    find: '!factsOf(type).movesMoneyAtOnce || countsFor.includes(type);',
    replacement: 'countsFor !== undefined;',
    test: {
      file: 'test/activities/order/witnesses.test.ts',
      name: 'a deposit is a later order for a deposit, and for a payout only if the setting says so',
    },
  },
  {
    name: 'an order that waits for a later one is sent itself',
    file: 'src/workflows/create/next-action.ts',
    find: '  if (isBelieved(absence, terms)) return again;\n',
    replacement: '  if (control.othersFail || isBelieved(absence, terms)) return again;\n',
    test: everyOneKeeps('an outage, and a view that stands still'),
  },
  {
    name: 'unlimited create attempts',
    file: 'src/workflows/activity-calls.ts',
    find: 'retry: { maximumAttempts: 1 }',
    replacement: "retry: { initialInterval: '1s' }",
    test: {
      file: 'test/reliability/single-attempt.test.ts',
      name: 'a create that fails in its worker is never repeated by the server',
    },
  },
  {
    name: 'a list without its sentinels is believed',
    file: 'src/activities/order/grouped-look-ups.ts',
    find: 'sentinels.every(({ id, uuid }) => uuids.get(id) === uuid)',
    replacement: 'true',
    test: {
      file: 'test/activities/order/grouped-probes.test.ts',
      name: 'a list is not believed that shows nothing, after it told the truth for a while',
    },
  },
  {
    name: 'settle window 0',
    file: 'src/workflows/create/create-order.ts',
    find: 'const windowMs = windowOf(run.strictest.pace, run.type);',
    replacement: 'const windowMs = windowOf(run.strictest.pace, run.type) * 0;',
    test: {
      file: 'test/workflows/create/settle.simulated.test.ts',
      name: "an uncertain 'deposit' that is absent, resend undefined is read as absent at least 3 times over 15 s before each re-send and the park",
    },
  },
  {
    name: 'a decision on the state of another run is taken',
    file: 'src/activities/check-signature.ts',
    find: 'const runId = runOf(input.update, input.choice, run);',
    replacement: 'const { runId } = run;',
    test: {
      file: 'test/workflows/order/unchecked-decisions.nightly.test.ts',
      name: 'a decision that a run took up before it was reset, and that is checked after that, is not taken',
    },
  },
  {
    name: 'a permission given in time counts for the late order',
    file: 'src/workflows/create/next-action.ts',
    find: 'permitted !== undefined && isInTime(facts, permitted) &&',
    replacement: 'permitted !== undefined &&',
    test: everyOneKeeps('a time that passes'),
  },
  {
    name: 'sent again on a proof of another place',
    file: 'src/workflows/create/apply-outcome.ts',
    find: 'const doubt = facts.doubt ?? facts.absence?.doubt;\n  if (!doubt) return facts;\n  const confirmed',
    replacement: 'const doubt = facts.doubt;\n  if (!doubt) return facts;\n  const confirmed',
    test: {
      file: 'test/workflows/create/another-account.nightly.test.ts',
      name: 'a permitted re-send is worth nothing at a place that was confirmed after it: absence is proven there first',
    },
  },
  {
    name: 'callback body trusted',
    file: 'src/workflows/order/frame.ts',
    // Read at all, and then believed.
    find: `    defineSignal(ORDER_CALLBACK_SIGNAL, { typeInfo: UNREAD }),
    () => {
      run.callback = { isDue: true, firstAtMs: run.callback.firstAtMs ?? Date.now() };
    },`,
    replacement: `    defineSignal<[{ status?: string }]>(ORDER_CALLBACK_SIGNAL),
    (hint) => {
      run.callback = { isDue: true, firstAtMs: run.callback.firstAtMs ?? Date.now() };
      if (run.order && hint?.status) run.finalOrder = { ...run.order, status: hint.status };
    },`,
    test: {
      file: 'test/workflows/follow/following.server.test.ts',
      name: 'callbacks only wake the order up one with a forged body is looked up and not believed',
    },
  },
  {
    name: 'reuse policy ALLOW_DUPLICATE',
    file: 'src/client/start-options.ts',
    find: "args: [input],\n    workflowIdReusePolicy: 'REJECT_DUPLICATE'",
    replacement: "args: [input],\n    workflowIdReusePolicy: 'ALLOW_DUPLICATE'",
    test: {
      file: 'test/client/start-options.server.test.ts',
      name: 'an id is used once, and no time limit ends an order',
    },
  },
  {
    name: 'redirects followed',
    file: 'src/payment-service/transport.ts',
    find: 'followRedirect: false',
    replacement: 'followRedirect: true, methodRewriting: false',
    test: { file: 'test/payment-service/failures.test.ts', name: 'answers other than 200 307 is not followed' },
  },
  {
    name: 'acknowledgement before the signal',
    file: 'src/receiver/spare-temporal.ts',
    find: 'const outcome = await signal(target, hint, repeated, mayLookUp).then((result) => ({ result }), unavailable);',
    replacement: `signal(target, hint, repeated, mayLookUp).catch(() => undefined);
      const outcome = { result: 'delivered' as const };`,
    test: {
      file: 'test/receiver/server.test.ts',
      name: "a genuine callback of 'an order' is answered only after the signal was accepted",
    },
  },
  {
    name: 'float sum',
    file: 'src/contract/money.ts',
    find: 'amounts.reduce((total, amount) => total.plus(amount), new Big(0))',
    replacement: 'new Big(amounts.reduce((total, amount) => total + amount.toNumber(), 0))',
    test: { file: 'test/contract/money.test.ts', name: 'amounts add up exactly where floating point does not' },
  },
  {
    name: '429 taken for "nothing was executed"',
    file: 'src/activities/order/create-attempt.ts',
    find: "return { kind: 'uncertain', reason:",
    replacement:
      "return error instanceof RateLimitedError ? { kind: 'notSent', reason: '' } : { kind: 'uncertain', reason:",
    test: {
      file: 'test/workflows/create/limited-creates.nightly.test.ts',
      name: 'a create that is executed although its answer sounds like a refusal withdraw, 429-after: is settled over the window, found, and never sent again',
    },
  },
  {
    name: 'absence believed at another account',
    file: 'src/contract/order/sent-to.ts',
    find: 'idsOf(here).includes(pin.account);',
    replacement: 'idsOf(here).length > 0;',
    test: {
      file: 'test/workflows/create/another-account.nightly.test.ts',
      name: "an executed create is uncertain, and the worker comes back with 'another key on the same host': nothing is sent there; set back it goes on by itself",
    },
  },
  {
    name: 'a copy of a create or chunk sends',
    file: 'src/activities/only-attempt.ts',
    find: 'return scheduled !== 1;',
    replacement: 'return scheduled === 0;',
    test: {
      file: 'test/temporal/rogue-copies.server.test.ts',
      name: 'a create that something without the keys schedules once more in its run sends nothing',
    },
  },
  {
    name: 'an unpaused create taken for a first one',
    file: 'src/activities/only-attempt.ts',
    find: ' || laterMs > ONE_SCHEDULE_MS',
    replacement: '',
    test: {
      file: 'test/workflows/create/unpaused-create.nightly.test.ts',
      name: 'a create that is paused, failed and unpaused with attempts and heartbeat reset sends nothing more: it is adopted',
    },
  },
  {
    name: 'our order in another form taken for a stranger',
    file: 'src/contract/differences/echo.ts',
    find: "return { hard: named('other'), soft: named('form') };",
    replacement: "return { hard: [...named('other'), ...named('form')], soft: [] };",
    test: {
      file: 'test/workflows/create/echo-differences.server.test.ts',
      name: 'a person is told which fields are shown otherwise, while the order goes on by itself to its end',
    },
  },
  {
    name: 'follow-up sent on an old reading',
    file: 'src/activities/order/create-order.ts',
    find: 'if (stale) return stale;',
    replacement: '',
    test: {
      file: 'test/activities/order/stale-follow-up.test.ts',
      name: 'a follow-up whose order turned into completed is not sent',
    },
  },
  {
    name: 'an approval without its run is taken where payloads are encrypted',
    file: 'src/workflows/required.ts',
    find: "  [BATCH_MESSAGES.approve]: 'runId',\n",
    replacement: '',
    test: {
      file: 'test/temporal/earlier-choices.nightly.test.ts',
      name: 'the approval of a plan in an earlier run of a batch approves nothing in a later one',
    },
  },
  {
    name: 'an end of another run is read',
    file: 'src/client/history.ts',
    find: 'run === undefined || run === runId',
    replacement: 'run !== runId || run === runId',
    test: {
      file: 'test/temporal/earlier-ends.server.test.ts',
      name: 'an order that a run of before did not make is not said to be absent in the next one',
    },
  },
  {
    name: 'changed file read',
    file: 'src/batch-files/read-file.ts',
    find: 'sha256 !== undefined && sha256 !== file.sha256',
    replacement: "sha256 === '' && sha256 !== file.sha256",
    test: {
      file: 'test/batch-files/read-file.test.ts',
      name: 'a file of a batch that was changed through a shared mapping is not read under its old hash, and has another one',
    },
  },
  {
    name: 'more than the plan',
    file: 'src/activities/batch/rows/count.ts',
    find: 'decimal(sum).gt(decimalOrZero(totals[currency]))',
    replacement: 'totals[currency] === undefined',
    test: {
      file: 'test/activities/batch/beyond-plan.test.ts',
      name: "rows are not started beyond a plan 'by one cent'",
    },
  },
  {
    name: 'the whole limit for each worker',
    file: 'src/worker/limit-shares.ts',
    find: 'used)) / workers',
    replacement: 'used)) / Math.min(workers, 1)',
    test: {
      file: 'test/worker/limit-shares.test.ts',
      name: 'while workers come and go requests that all want to be sent at once, and arrive late by chance, stay below 1.05 times the limit over 5 s',
    },
  },
  {
    name: 'an order is sent anew though nobody knows where an earlier run sent it',
    file: 'src/workflows/create/next-action.ts',
    find: "cause === 'reset' || cause === 'recovered' || place !== 'asked'",
    replacement: "cause === 'reset' || cause === 'recovered'",
    test: everyOneKeeps('an account that nobody knows'),
  },
  {
    name: 'the window since an earlier run begins when some clock said that it had sent',
    file: 'src/workflows/order/state.ts',
    find: 'const untilMs = workflowInfo().startTime.getTime() + SEND_TIMEOUT_MS;',
    replacement: "const untilMs = Date.parse(input?.sentUntil ?? '') || workflowInfo().startTime.getTime();",
    test: {
      file: 'test/workflows/create/terminated-mid-send.server.test.ts',
      name: 'terminated while its create is under way, and started again at once, it is adopted once it is there, and not created twice',
    },
  },
  {
    name: 'a run that was stopped is taken to have sent to the account of now',
    file: 'src/client/sent-earlier.ts',
    find: 'sentUntil: new Date().toISOString(), ...UNKNOWN_ACCOUNT',
    replacement: 'sentUntil: new Date().toISOString()',
    test: {
      file: 'test/workflows/create/stopped-elsewhere.server.test.ts',
      name: 'a reset run that no worker took has no create of its own, and the one that it was cut from may have sent',
    },
  },
  {
    name: 'a request that was under way when its run was terminated is not waited for',
    file: 'src/workflows/order/state.ts',
    find: 'startTime.getTime() + SEND_TIMEOUT_MS;',
    replacement: 'startTime.getTime();',
    test: {
      file: 'test/workflows/create/terminated-mid-send.server.test.ts',
      name: 'terminated while its create is under way, and started again at once, it is adopted once it is there, and not created twice',
    },
  },
  {
    name: 'a refusal at one place ends what may have gone to another',
    file: 'src/workflows/create/next-action.ts',
    find: '!isPlaceUnknown(facts) &&\n  facts.absence !== undefined',
    replacement: 'facts.absence !== undefined',
    test: everyOneKeeps('an account that nobody knows'),
  },
  {
    name: 'a cancelled order ends although an earlier run may have sent it to another account',
    file: 'src/workflows/create/next-action.ts',
    find: "isOfAnotherRun(cause) && place === 'asked'",
    replacement: 'isOfAnotherRun(cause)',
    test: everyOneKeeps('an account that nobody knows'),
  },
  {
    name: 'an order is closed as absent although it may have gone to another account',
    file: 'src/workflows/create/next-action.ts',
    find: "if (isPlaceUnknown(facts)) return endAsClosed(facts, 'place');",
    replacement: '',
    test: everyOneKeeps('an account that nobody knows'),
  },
  {
    name: 'a hold is forgotten once the create that a worker had is uncertain',
    file: 'src/workflows/create/apply-outcome.ts',
    find: "...(isHeld(facts) ? [] : ['blocked' as const])",
    replacement: "'blocked'",
    test: everyOneKeeps('a held order'),
  },
  {
    name: "a rule's refusal takes the place of a hold",
    file: 'src/workflows/create/apply-outcome.ts',
    find: 'blocked: isHeld(facts) ? facts.blocked : blocked,',
    replacement: 'blocked,',
    test: everyOneKeeps('a rule of policy'),
  },
  {
    name: 'funds that come with a hold end it',
    file: 'src/workflows/create/apply-outcome.ts',
    find: 'return isHeld(facts) ? facts : without(',
    replacement: 'return without(',
    test: everyOneKeeps('a held order'),
  },
  {
    name: 'an unsent order that is closed asks again',
    file: 'src/workflows/create/apply-outcome.ts',
    find: "restartProof(without(facts, 'notSent'), doubt), closing",
    replacement: 'restartProof(facts, doubt), closing',
    test: everyOneKeeps('rounds without a send'),
  },
  {
    name: 'an order is tried again while its account is stopped',
    file: 'src/workflows/create/next-action.ts',
    find: "if (notSent?.isStopped && !asksBeforeResume(facts)) return { do: 'await resume' };",
    replacement: '',
    test: everyOneKeeps('a stopped account'),
  },
  {
    name: 'an order that waits for funds is sent without them',
    file: 'src/workflows/create/next-action.ts',
    find: "if (blocked?.waits) return { do: 'await funds', needed: blocked.toApprove ?? { currency: '' } };\n  if (blocked)",
    replacement: 'if (blocked && !blocked.waits)',
    test: everyOneKeeps('a short balance'),
  },
  {
    name: 'an order that a rule holds is sent unasked',
    file: 'src/workflows/create/next-action.ts',
    find: "if (blocked) return { do: 'ask'",
    replacement: "if (blocked && blocked.by !== 'policy') return { do: 'ask'",
    test: everyOneKeeps('a rule of policy'),
  },
  ...KEY_MUTANTS,
  ...REMAINDER_MUTANTS,
  ...BATCH_MUTANTS,
  ...DECISION_MUTANTS,
  ...RESTORE_MUTANTS,
  ...WORKER_MUTANTS,
  ...HOLE_MUTANTS,
];

/** One deliberate mistake in our own code, and the test that has to notice it. */
export interface Mutant {
  /** What is broken. */
  name: string;
  /** Source file, from the repository's root. */
  file: string;
  /** Text that the file holds exactly once. */
  find: string;
  replacement: string;
  /** File and full name (groups and title, separated by blanks) of the test that must fail. */
  test: { file: string; name: string };
}

/** Every mutant; each stands for a way in which money or a secret would be lost. */
export const MUTANTS: readonly Mutant[] = [
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
    name: 'settle window 0',
    file: 'src/workflows/create/settle.ts',
    find: 'const windowMs = settleWindowMs(run);',
    replacement: 'const windowMs = settleWindowMs(run) * 0;',
    test: {
      file: 'test/workflows/create/settle.server.test.ts',
      name: 'an order that appears within the window is adopted and not sent again',
    },
  },
  {
    name: 'a permission given in time counts for the late order',
    file: 'src/workflows/create/create-order.ts',
    find: "isLate && !wasLate && isPatched('late-is-asked-anew')",
    replacement: 'false',
    test: {
      file: 'test/workflows/create/delayed-resend.server.test.ts',
      name: 'a delayed order whose create is uncertain and absent asks again when its time passed while a person was asked: what they permitted was no late payment',
    },
  },
  {
    name: 'sent again on a proof of another place',
    file: 'src/workflows/create/may-resend.ts',
    find: 'settled?.atSwitch !== evidence.accountSwitches',
    replacement: '!settled',
    test: {
      file: 'test/workflows/create/may-resend.test.ts',
      name: 'a create whose outcome is not known is not on a proof of another place',
    },
  },
  {
    name: 'callback body trusted',
    file: 'src/workflows/order/frame.ts',
    // Read at all, and then believed.
    find: `    defineSignal(ORDER_CALLBACK_SIGNAL, { typeInfo: UNREAD }),
    () => {
      run.callbackPending = true;
    },`,
    replacement: `    defineSignal<[{ status?: string }]>(ORDER_CALLBACK_SIGNAL),
    (hint) => {
      run.callbackPending = true;
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
    find: 'return signal(target, hint).then((result) => ({ result }), unavailable);',
    replacement: `signal(target, hint).catch(() => undefined);
      return { result: 'delivered' };`,
    test: {
      file: 'test/receiver/server.test.ts',
      name: 'a genuine callback is answered only after the signal was accepted',
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
    replacement: "return error instanceof RateLimitedError ? { kind: 'notExecuted' } : { kind: 'uncertain', reason:",
    test: {
      file: 'test/workflows/create/limited-creates.server.test.ts',
      name: 'a create that is executed although its answer sounds like a refusal withdraw, 429-after: is settled over the window, found, and never sent again',
    },
  },
  {
    name: 'absence believed at another account',
    file: 'src/activities/order/sent-to.ts',
    find: 'if (!sentTo) return undefined;',
    replacement: 'return undefined;',
    test: {
      file: 'test/workflows/create/another-account.server.test.ts',
      name: "an executed create is uncertain, and the worker comes back with 'another key on the same host': nothing is sent there; set back it goes on by itself",
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
    name: 'changed block read',
    file: 'src/batch-files/pinned-file.ts',
    find: 'hashOf(block) !== (this.content.blocks[index] ?? OF_NOTHING)',
    replacement: 'hashOf(block) === OF_NOTHING && index < 0',
    test: {
      file: 'test/batch-files/pinned-file.test.ts',
      name: 'a file that is changed through a shared mapping, which changes none of its times while it is read: no changed row is read, and it is given up',
    },
  },
  {
    name: 'more than the plan',
    file: 'src/activities/batch/rows/beyond-plan.ts',
    find: 'decimal(sum).gt(decimalOrZero(totals[currency]))',
    replacement: 'totals[currency] === undefined',
    test: {
      file: 'test/activities/batch/beyond-plan.test.ts',
      name: "rows are not started beyond a plan 'by one cent'",
    },
  },
  {
    name: 'signature not verified',
    file: 'src/activities/check-signature.ts',
    find: 'if (!verify(',
    replacement: 'if (approver === undefined && !verify(',
    test: {
      file: 'test/workflows/order/signed-decisions.server.test.ts',
      name: 'a decision on an account of APPROVERS_FILE is refused, and nothing is sent with a card, or any other field, changed behind the signature',
    },
  },
  {
    name: 'signed for whatever run',
    file: 'src/contract/signature.ts',
    find: 'run: { namespace, account, workflowId, runId }',
    replacement: 'run: { namespace, account, workflowId, runId: runId.slice(0, 0) }',
    test: {
      file: 'test/workflows/order/signed-decisions.server.test.ts',
      name: 'a decision on an account of APPROVERS_FILE is refused, and nothing is sent that was signed for the run before a reset, though the revision is the same',
    },
  },
  {
    name: 'two keys of one person are two persons',
    file: 'src/workflows/batch/messages.ts',
    find: 'approvals.some(({ by }) => by === approval.by)',
    replacement: 'approvals.some(({ keyId }) => keyId === approval.keyId)',
    test: {
      file: 'test/workflows/batch/signed-approvals.server.test.ts',
      name: 'a batch of an account of APPROVERS_FILE is paid for no single person: neither by two keys, nor under two names, nor twice',
    },
  },
  {
    name: 'raw HTTP error as cause',
    file: 'src/payment-service/transport.ts',
    find: 'throw new NoAnswerError(signal.aborted ? String(signal.reason) : codeOf(error));',
    replacement:
      'throw Object.assign(new NoAnswerError(signal.aborted ? String(signal.reason) : codeOf(error)), { cause: error });',
    test: {
      file: 'test/payment-service/secrets.test.ts',
      name: 'no error of any kind carries a key, secret, signature, wallet, text of a body or query',
    },
  },
  {
    name: 'a broken tunnel taken for not sent',
    file: 'src/payment-service/transport.ts',
    find: 'throw new NoAnswerError(signal.aborted ? String(signal.reason) : codeOf(error));',
    replacement: 'throw new NotSentError(signal.aborted ? String(signal.reason) : codeOf(error));',
    test: {
      file: 'test/payment-service/tunnel.test.ts',
      name: 'a tunnel that breaks after the whole request arrived: uncertain, and sent once',
    },
  },
  {
    name: 'any certificate behind the proxy',
    file: 'src/payment-service/connection.ts',
    find: 'rejectUnauthorized: true',
    replacement: 'rejectUnauthorized: false',
    test: {
      file: 'test/payment-service/tunnel.test.ts',
      name: 'a proxy that opens no tunnel to the service: provably not sent, asked once one that leads to a service with a certificate of its own',
    },
  },
  {
    name: 'a payload of another workflow is read',
    file: 'src/temporal/encryption-codec.ts',
    find: "if (bound) throw new PayloadDecryptionError('payload encrypted for another workflow or activity', 'foreign');",
    replacement: 'if (bound) return content;',
    test: {
      file: 'test/temporal/encryption-codec.test.ts',
      name: 'what a payload is bound to is not read by another workflow, required or not',
    },
  },
  {
    name: 'a resume ends any pause',
    file: 'src/workflows/batch/messages.ts',
    find: ' ?? pauseProblem(run.paused, instruction)',
    replacement: '',
    test: {
      file: 'test/workflows/batch/copied-resume.server.test.ts',
      name: 'a copy of what paused a batch, or of what resumed it from an earlier pause, resumes nothing',
    },
  },
  {
    name: 'an activity has the id of that of the run before',
    file: 'src/workflows/interceptors.ts',
    find: "return isPatched('activities-of-one-run')",
    replacement: "return !isPatched('activities-of-one-run')",
    test: {
      file: 'test/temporal/replayed-answers.server.test.ts',
      name: 'that a create of an earlier run was refused is not said of the create of a later one',
    },
  },
  {
    name: 'a create that a worker had started counts as cancelled before it',
    file: 'src/workflows/create/attempt.ts',
    find: '!wasStarted(error) && ',
    replacement: '',
    test: {
      file: 'test/temporal/rogue-worker.long.test.ts',
      name: 'whoever ends a create by its id while it is being sent is not believed: cancelled, refused or not sent',
    },
  },
  {
    name: "another account's keys are taken",
    file: 'src/worker/take-keys.ts',
    find: 'found && !found.confirmable',
    replacement: 'found && found.why === ""',
    test: {
      file: 'test/worker/take-keys.test.ts',
      name: 'another account is not changed to where the files of two are mixed up',
    },
  },
  {
    name: 'half a key is taken',
    file: 'src/config/keep-reading.ts',
    find: 'if (seen !== before || refused.looksLeft > 0) {',
    replacement: 'if (refused.looksLeft > 0) {',
    test: {
      file: 'test/config/keep-reading.test.ts',
      name: 'a key file is read anew and not taken while it is being written: two looks in a row must see the same',
    },
  },
];

/** The file's text with the mistake in it. Throws when the text to replace is not there exactly once. */
export function applyMutant({ name, file, find, replacement }: Mutant, source: string): string {
  const found = source.split(find).length - 1;
  if (found !== 1) throw new Error(`mutant "${name}": its text occurs ${found} times in ${file}, not once`);
  return source.split(find).join(replacement);
}

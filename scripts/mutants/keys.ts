import type { Mutant } from './mutant.js';

/** Mutants of what keeps others out: signatures, keys, transport, encrypted payloads. */
export const KEY_MUTANTS: readonly Mutant[] = [
  {
    name: 'signature not verified',
    file: 'src/activities/check-signature.ts',
    find: '|| !verify(',
    replacement: '|| approver === undefined && !verify(',
    test: {
      file: 'test/workflows/order/signed-decisions.server.test.ts',
      name: 'a decision on an account of APPROVERS_FILE is refused, and nothing is sent with a card, or any other field, changed behind the signature',
    },
  },
  {
    name: 'D143: a follow-up forgets its limits',
    file: 'src/workflows/compensation/send-follow-up.ts',
    find: '    strictest: run.strictest,\n',
    replacement: '',
    test: {
      file: 'test/workflows/compensation/follow-up-limits.server.test.ts',
      name: 'caps, and that decisions are signed',
    },
  },
  {
    name: 'D144: who names the wallet of a refund approves its breach',
    file: 'src/workflows/order/frame.ts',
    find: ', run.input.decidedBy]',
    replacement: ']',
    test: {
      file: 'test/policy/policy.server.test.ts',
      name: 'the breach of a refund needs another person than who named its wallet',
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
    file: 'src/workflows/batch/rules.ts',
    find: 'approvals.some(({ by }) => by === name)',
    replacement: 'approvals.some(({ keyId }) => keyId === name)',
    test: {
      file: 'test/workflows/batch/signed-approvals.server.test.ts',
      name: 'a batch of an account of APPROVERS_FILE is paid for no single person: neither by two keys, nor under two names, nor twice',
    },
  },
  {
    name: 'raw HTTP error as cause',
    file: 'src/payment-service/transport.ts',
    find: 'throw new NoAnswerError(signal.aborted ? String(signal.reason) : systemCodeOf(error));',
    replacement:
      'throw Object.assign(new NoAnswerError(signal.aborted ? String(signal.reason) : systemCodeOf(error)), { cause: error });',
    test: {
      file: 'test/payment-service/secrets.test.ts',
      name: 'no error of any kind carries a key, secret, signature, wallet, text of a body or query',
    },
  },
  {
    name: 'a broken tunnel taken for not sent',
    file: 'src/payment-service/transport.ts',
    find: 'throw new NoAnswerError(signal.aborted ? String(signal.reason) : systemCodeOf(error));',
    replacement: 'throw new NotSentError(signal.aborted ? String(signal.reason) : systemCodeOf(error));',
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
    file: 'src/workflows/batch/rules.ts',
    find: ' ?? pauseProblem(run.paused, instruction)',
    replacement: '',
    test: {
      file: 'test/workflows/batch/copied-resume.nightly.test.ts',
      name: 'a copy of what paused a batch, or of what resumed it from an earlier pause, resumes nothing',
    },
  },
  {
    name: 'an activity has the id of that of the run before',
    file: 'src/workflows/interceptors.ts',
    find: 'uuid4().slice(-OWN_DIGITS)',
    replacement: "''",
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
];

import { verify } from 'node:crypto';
import { activityInfo, getClient } from '@temporalio/activity';
import { AuditNotWrittenError } from '../audit/audit-record.js';
import { readFirstInput } from '../client/history.js';
import { describeRun } from '../client/standing.js';
import type { Approvers } from '../config.js';
import type { BatchInput } from '../contract/batch/batch.js';
import { batchWorkflowId } from '../contract/names.js';
import type { Decision } from '../contract/order/messages.js';
import {
  type CheckSignatureInput,
  OTHER_RUN,
  runOf,
  SIGNATURES_COUNT,
  SIGNED_UPDATES,
  type SignatureCheck,
  type SignedRun,
  starterProblem,
  textToSign,
} from '../contract/signature.js';
import { textForAll, textName } from '../contract/signed-together.js';
import { recordChoice } from './audit.js';
import type { ActivityDeps } from './deps.js';
import { comeBackIn } from './failures.js';
import { isSigned } from './protections.js';

const HOW_TO_SIGN = 'sign with --key FILE or APPROVER_KEY_FILE; in code: the option `signer`';

const UNKNOWN_ACCOUNT =
  'account: this worker does not serve it, so the signature was not checked. Nothing was decided. Let a worker of the account answer';

const refused = (reason: string): SignatureCheck => ({ kind: 'refused', reason });

/**
 * Checks who signed a choice, and records the choice before it counts. The expected subject comes
 * from this task alone; every failure is an answer.
 */
export function checkSignatureActivity(deps: Pick<ActivityDeps, 'accounts' | 'approvers' | 'audit' | 'others'>) {
  return async function checkSignature(input: CheckSignatureInput): Promise<SignatureCheck> {
    // Anybody with access to Temporal may answer the workflow task that asks.
    if (!SIGNED_UPDATES.includes(input.update)) return refused('update: is none that persons sign');
    // Only a worker of the account knows whose signatures count.
    if (!deps.accounts.has(input.account)) return refused(UNKNOWN_ACCOUNT);
    const approvers = deps.approvers?.get(input.account);
    if (!approvers && (input.required || isSigned(deps, input.account))) return letAnother();
    const check = await checkedInRun(approvers, input);
    if (check.kind === 'refused') return check;
    try {
      await recordChoice(deps, input, check.kind === 'signed' ? check.keyId : undefined);
      return check;
    } catch (error) {
      if (error instanceof AuditNotWrittenError) return refused(`${error.message}. Nothing was decided`);
      throw error;
    }
  };
}

/**
 * Lets the server ask another worker for some seconds, because that one may have APPROVERS_FILE.
 */
function letAnother(): SignatureCheck {
  if (activityInfo().attempt >= OTHERS_ASKED) return refused(SIGNATURES_COUNT);
  throw comeBackIn(ASK_OTHER_AFTER_MS, 'a worker without APPROVERS_FILE was asked; another one has to be');
}

/** Attempts before a refusal, and the wait between them, within the time of a check. */
const [OTHERS_ASKED, ASK_OTHER_AFTER_MS] = [20, 250];

/** Checks a choice for its run, and that nobody approves the breach of their own row. */
async function checkedInRun(known: Approvers | undefined, input: CheckSignatureInput): Promise<SignatureCheck> {
  const { workflowExecution: run } = activityInfo();
  if (!run) throw new Error('is asked by workflows alone');
  const runId = runOf(input.update, input.choice, run);
  if (runId === undefined) return refused(OTHER_RUN);
  const check = checked(known, input, { ...run, runId });
  const problem = check.kind !== 'refused' && (await ownBatch(input));
  return problem ? refused(problem) : check;
}

/** Returns why a person may not approve the breach of a row: they started its batch. */
async function ownBatch({ account, batchId, choice }: CheckSignatureInput): Promise<string | undefined> {
  const workflowId = batchId && batchWorkflowId(account, batchId);
  // Any order may name a batch, also one that Temporal does not know.
  if (!workflowId || !(await describeRun(getClient(), workflowId))) return undefined;
  const { input } = await readFirstInput<BatchInput>(getClient(), workflowId);
  return starterProblem('order', input.startedBy, (choice as Decision).by);
}

function checked(
  known: Approvers | undefined,
  input: CheckSignatureInput,
  run: Pick<SignedRun, 'workflowId' | 'runId'>,
): SignatureCheck {
  const { account, update, choice, signature } = input;
  if (!known) return { kind: 'unasked' };
  const { keyId, value, texts } = signature ?? {};
  if (typeof keyId !== 'string' || typeof value !== 'string') {
    return refused(`signature: account ${account} takes nothing unsigned; ${HOW_TO_SIGN}`);
  }
  const approver = known.get(keyId);
  if (!approver) return refused('signature: no person of APPROVERS_FILE has this key');
  const { workflowNamespace: namespace = '' } = activityInfo();
  const own = textToSign(update, { namespace, account, ...run }, choice);
  const text = texts ? textAmong(own, texts, { ...input, namespace }) : own;
  if (text === undefined || !verify(null, Buffer.from(text), approver.key, Buffer.from(value, 'base64'))) {
    return refused('signature: does not match this choice and run. Show it again, and sign the new text');
  }
  const right = update === 'approve' || update === 'resume' ? 'approve' : 'decide';
  if (!approver.may.has(right)) return refused(`signature: ${approver.person} may not ${right} for account ${account}`);
  if ('by' in choice && choice.by === approver.person) return { kind: 'signed', keyId };
  return refused(`by: this key requires the name ${approver.person}`);
}

/** Returns the subject of a signature for many orders; undefined if this choice is not in it. */
function textAmong(
  own: string,
  texts: readonly string[],
  { namespace, account, update, choice }: CheckSignatureInput & { namespace: string },
): string | undefined {
  if (update !== 'decide' || !texts.includes(textName(own))) return undefined;
  return textForAll({ namespace, account }, choice as Decision, texts);
}

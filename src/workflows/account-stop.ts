import {
  ApplicationFailure,
  condition,
  defineUpdate,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { AccountStop } from '../contract/account-stop.js';
import { timeShown } from '../contract/attention.js';
import { type BatchInstruction, shownInterruption } from '../contract/batch/batch.js';
import {
  accountStopWorkflowId,
  RESUME_ACCOUNT_UPDATE,
  STOP_ACCOUNT_UPDATE,
  STOP_MEMO,
  searchAttribute,
} from '../contract/names.js';
import type { SignedUpdate } from '../contract/signature.js';
import { withoutNulls } from '../contract/without-nulls.js';
import { checkedAccount, checkWorkflowId, isReset, refuseInput } from './identity.js';
import { instructionProblem } from './instruction.js';
import { beforeEnd } from './outbox.js';
import { attentionAttributes, inert, show } from './show.js';
import { otherRun, takeSigned } from './signed.js';

/** A run that nobody tells to stop the account ends after this time. */
const IDLE_MS = 60_000;

const LOST = { by: 'somebody', reason: 'a reset of its stop lost the reason' };

interface StopRun {
  readonly account: string;
  stop?: AccountStop;
  resumed?: boolean;
}

/**
 * Stops an account from its first `stopAccount` to its `resumeAccount`. Workers read the memo before
 * every send, and take a run that did not complete for a stop.
 */
export async function accountStop(input: { account?: string; stop?: AccountStop }): Promise<AccountStop | null> {
  const run: StopRun = { account: checkedAccount(input) };
  if (input.stop) stopBy(run, input.stop);
  checkWorkflowId(refuseInput, 'account', accountStopWorkflowId(run.account));
  setHandlers(run);
  await beforeEnd(() => condition(() => run.stop !== undefined, IDLE_MS, { summary: 'Nobody stopped the account' }));
  // Temporal does not repeat an update that names the run before the reset.
  if (!run.stop && isReset()) stopBy(run, { ...LOST, at: workflowInfo().startTime.toISOString() });
  if (!run.stop) return null;
  await beforeEnd(() => condition(() => run.resumed === true));
  return run.stop;
}

function setHandlers(run: StopRun): void {
  const stops = 'Sends no create of the account until resumeAccount. {"by", "reason"}';
  const stopProblem = (): string | undefined =>
    run.stop && `it is stopped already by ${run.stop.by}: ${run.stop.reason}`;
  onUpdate(
    run,
    defineUpdate<void, [BatchInstruction]>(STOP_ACCOUNT_UPDATE),
    stops,
    stopProblem,
    ({ by, reason }, keyId) =>
      stopBy(run, { ...shownInterruption({ by, reason }), at: new Date().toISOString(), ...(keyId && { keyId }) }),
  );
  const resumes = 'Sends the creates of the account again. {"by", "reason"}';
  const resumeProblem = (): string | undefined => (run.stop && !run.resumed ? undefined : 'it is not stopped');
  onUpdate(run, defineUpdate<void, [BatchInstruction]>(RESUME_ACCOUNT_UPDATE), resumes, resumeProblem, () => {
    run.resumed = true;
    show('resumed', attentionAttributes(undefined));
  });
}

function stopBy(run: StopRun, stop: AccountStop): void {
  run.stop = stop;
  upsertMemo({ [STOP_MEMO]: stop });
  show(details(run.account, stop), [
    ...attentionAttributes('account-stopped'),
    { key: searchAttribute.account, value: run.account },
  ]);
}

/** Handles an update. Its validator is synchronous, because an async one would never refuse. */
function onUpdate(
  run: StopRun,
  update: ReturnType<typeof defineUpdate<void, [BatchInstruction]>>,
  description: string,
  problem: () => string | undefined,
  obey: (instruction: BatchInstruction, keyId?: string) => void,
): void {
  const handle = async (raw: BatchInstruction): Promise<void> => {
    const { signature, ...sent } = withoutNulls(raw);
    await takeSigned({
      input: {
        account: run.account,
        ...{ update: update.name as SignedUpdate, choice: sent, signature },
        ...(run.stop?.keyId && { required: true }),
      },
      refusal: problem,
      refuse,
      take: (keyId) => obey(sent, keyId),
    });
  };
  setHandler(update, handle, {
    description,
    validator: (raw: BatchInstruction) => {
      const sent = withoutNulls<BatchInstruction>(raw);
      const reason = problem() ?? instructionProblem(sent) ?? otherRun(update.name, sent);
      if (reason) refuse(reason);
    },
  });
}

function refuse(reason: string): never {
  throw ApplicationFailure.nonRetryable(reason, 'Refused');
}

function details(account: string, { by, reason, at, keyId }: AccountStop): string {
  const key = keyId ? ' --key <file of your private key>' : '';
  return [
    `**Account \`${account}\` is stopped: no create is sent.** Look-ups, callbacks and endings continue.`,
    `**Why** (since ${timeShown(at)}): ${inert(`${by}: ${reason}`)}`,
    `**To do**: \`payment-orders account resume ${account} --by <your name> --reason <why>${key}\`. Its orders wait, and then go on by themselves: never start one under another id or account.`,
    `Run \`${workflowInfo().runId}\`. Terminating this workflow does not resume the account.`,
  ].join('\n\n');
}

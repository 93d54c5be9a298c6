import {
  ActivityFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import {
  type CheckSignatureInput,
  type OnlyByCommand,
  OTHER_RUN,
  SIGNATURES_COUNT,
  type SignatureCheck,
} from '../contract/signature.js';
import { quickCheck, untilOver } from './activity-calls.js';

/** An update that counts once it is known who signed it. */
export interface SignedRequest<T> {
  input: CheckSignatureInput;
  /** Why it may not be taken now; what it is about goes on while it is checked. */
  refusal: () => string | undefined;
  refuse: (reason: string) => never;
  /** Takes it; `keyId`: of the key that signed it, undefined where the account asks for no signatures. */
  take: (keyId?: string) => T;
}

/**
 * Why a choice that is for another run is refused. Asked of what is sent to this run alone: one that was reset has taken the choices
 * of the one before as its own. `checkSignature` has the last word; this spares a history what is refused.
 */
export const otherRun = (choice: { runId?: string } | undefined): string | undefined =>
  choice?.runId === undefined || choice.runId === workflowInfo().runId ? undefined : OTHER_RUN;

/** Returns, as a field to spread, whether a run takes signed choices only, whichever worker checks them. */
export const required = (onlyByCommand: OnlyByCommand | undefined): { required?: true } =>
  onlyByCommand === 'signed' ? { required: true } : {};

/** THE place where it is asked who signed an update. */
export async function takeSigned<T>({ input, refusal, refuse, take }: SignedRequest<T>): Promise<T> {
  const check = await checked(input, refusal);
  // In one breath with the taking: another one may have been checked beside it.
  const unsigned = input.required && check.kind === 'unasked' ? SIGNATURES_COUNT : undefined;
  const reason = refusal() ?? (check.kind === 'refused' ? check.reason : unsigned);
  if (reason) refuse(reason);
  return take(check.kind === 'signed' ? check.keyId : undefined);
}

/** A cancellation of the workflow must not end the check: what was cancelled may still want a decision. */
const checked = (input: CheckSignatureInput, refusal: () => string | undefined): Promise<SignatureCheck> =>
  CancellationScope.nonCancellable(async () => {
    const { checkSignature } = proxyActivities<Activities>(quickCheck(input.account));
    try {
      return await untilOver(
        () => checkSignature(input),
        () => refusal() !== undefined,
      );
    } catch (error) {
      if (!(error instanceof ActivityFailure) && !isCancellation(error)) throw error;
      return { kind: 'refused', reason: NOT_CHECKED };
    }
  });

const NOT_CHECKED =
  'its signature was not checked: no worker of the account took that up in time, or what it is about went on';

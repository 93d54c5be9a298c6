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
  runOf,
  SIGNATURES_COUNT,
  type SignatureCheck,
} from '../contract/signature.js';
import { quickCheck, untilOver } from './activity-calls.js';

interface SignedRequest<T> {
  input: CheckSignatureInput;
  /** Why it is refused now. The run continues during the check. */
  refusal: () => string | undefined;
  refuse: (reason: string) => never;
  /** Applies it. `keyId`: undefined if the account needs no signatures. */
  take: (keyId?: string) => T;
}

/** Returns why a choice for another run is refused, before `checkSignature` costs history. */
export const otherRun = (update: string, choice: object | undefined): string | undefined =>
  runOf(update, choice, workflowInfo()) === undefined ? OTHER_RUN : undefined;

/** Returns, as a field to spread, whether a run takes signed choices only. */
export const required = (onlyByCommand: OnlyByCommand | undefined): { required?: true } =>
  onlyByCommand === 'signed' ? { required: true } : {};

/** Checks the signature of an update. No other code does. */
export async function takeSigned<T>({ input, refusal, refuse, take }: SignedRequest<T>): Promise<T> {
  const check = await checked(input, refusal);
  // In the same step as `take`: another update may have been checked meanwhile.
  const unsigned = input.required && check.kind === 'unasked' ? SIGNATURES_COUNT : undefined;
  const reason = refusal() ?? (check.kind === 'refused' ? check.reason : unsigned);
  if (reason) refuse(reason);
  return take(check.kind === 'signed' ? check.keyId : undefined);
}

/** A cancelled order may still need a decision, so a cancellation must not end the check. */
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

/* Texts that persons sign. Workflows use them, so this file uses nothing of Node. */

import type { Signature } from '../shapes/parts.js';
import { maskName } from './masking.js';
import { HOLD_UPDATE } from './names.js';

export type { OnlyByCommand, Signature } from '../shapes/parts.js';

/** Most orders that one signature is for: each of their decisions carries the whole list. */
export const MAX_SIGNED_TOGETHER = 500;

const SHA256_FORMAT = /^[0-9a-f]{64}$/;

const areTexts = (texts: unknown): boolean =>
  Array.isArray(texts) &&
  texts.length <= MAX_SIGNED_TOGETHER &&
  texts.every((text) => typeof text === 'string' && SHA256_FORMAT.test(text));

/** Returns what is wrong with a signature's shape; undefined if nothing, or without one. */
export function signatureProblem(signature: unknown): string | undefined {
  if (signature === undefined) return undefined;
  const { keyId, value, texts = [], ...others } = Object(signature) as Partial<Signature>;
  const fits = typeof keyId === 'string' && typeof value === 'string' && keyId.length <= 64 && value.length <= 100;
  if (!areTexts(texts)) return `signature: texts must be at most ${MAX_SIGNED_TOGETHER} SHA-256 in hex`;
  return fits && Object.keys(others).length === 0 ? undefined : 'signature: must be {keyId, value}, both texts';
}

/** Returns one form of names that look the same. */
export const folded = (name: string): string => name.normalize('NFKC').replace(/\s+/gu, ' ').trim().toLowerCase();

/** Returns why a person may not approve what they started. */
export const starterProblem = (what: 'batch' | 'order', startedBy: unknown, by: string): string | undefined =>
  folded(by) === folded(String(startedBy))
    ? `${maskName(by)} started this ${what}, so somebody else must approve it`
    : undefined;

/** Signed updates. `approve` and `resume` are of batches, and need the right to approve. */
export const SIGNED_UPDATES = ['decide', 'hold', 'stopAccount', 'resumeAccount', 'approve', 'resume'] as const;

/** Update that may need a signature. */
export type SignedUpdate = (typeof SIGNED_UPDATES)[number];

/** Which run an update is for. A reset makes another run: what was signed for the one before counts no more. */
export interface SignedRun {
  namespace: string;
  account: string;
  workflowId: string;
  runId: string;
}

/**
 * Returns the run that a choice is for; undefined if not for this one. A reset repeats a hold under
 * the run that it names, and to hold is always safe.
 */
export function runOf(
  update: string,
  choice: object | undefined,
  { runId, firstExecutionRunId }: { runId: string; firstExecutionRunId?: string },
): string | undefined {
  const { runId: named = runId }: { runId?: string } = choice ?? {};
  const mayBeRepeated = update === HOLD_UPDATE && runId !== firstExecutionRunId;
  return named === runId || mayBeRepeated ? named : undefined;
}

/**
 * Time limit of a check in ms. Callers wait longer, so no check counts after its caller gave up.
 */
export const CHECK_TIMEOUT_MS = 10_000;

/** Reason for refusing a choice that is for another run. */
export const OTHER_RUN =
  'runId: the run that was shown is over: it was reset, started again or went on in a new one. Look again, then choose';

/** Refuses a choice that needs a signature which no asked worker could check. */
export const SIGNATURES_COUNT =
  'signature: this account takes nothing unsigned, and the worker that was asked does not know whose signature counts. Nothing was decided. Give APPROVERS_FILE to all workers of the account, then decide again';

/** Input of the activity `checkSignature`. `choice`: everything chosen, without the signature. */
export interface CheckSignatureInput {
  account: string;
  update: SignedUpdate;
  choice: object;
  signature?: Signature;
  /** A worker of the account required signatures once: the run takes nothing unsigned from then on. */
  required?: boolean;
  /** Set for a `resume`: who paused the batch. It is only recorded, not signed. */
  paused?: { by: string; reason: string; at: string };
  /** Set if a person approves the breach of a policy: batch whose starter may not. */
  batchId?: string;
}

/** Its answer. 'unasked': this account asks for no signatures; 'refused' says why, in words for the caller. */
export type SignatureCheck =
  | { kind: 'signed'; keyId: string }
  | { kind: 'unasked' }
  | { kind: 'refused'; reason: string };

/** Begins every text, so that no signature made for anything else counts here, and one of these counts nowhere else. */
const DOMAIN = 'payment-orders signature 1';

/**
 * The text that a person signs, in UTF-8: a line that names its use, then `{"choice", "run", "update"}` as JSON without
 * blanks, the keys of every object in the order of their UTF-16 code units, fields that are undefined left out.
 */
export const textToSign = (update: SignedUpdate, run: SignedRun, choice: object): string => {
  const { namespace, account, workflowId, runId } = run;
  return signedAs({ update, run: { namespace, account, workflowId, runId }, choice });
};

export const signedAs = (what: { update: string; run: object; choice: object }): string =>
  `${DOMAIN}\n${canonical(what)}`;

/** One text for one JSON value, however its keys were ordered. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  const sorted = fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(',')}}`;
}

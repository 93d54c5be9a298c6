import { isPlaceholder } from '../contract/attention.js';
import { type BatchInstruction, BY_ITSELF } from '../contract/batch/batch.js';
import { folded, signatureProblem } from '../contract/signature.js';

/* Who instructs a batch, an order or an account, and why. */

const MAX_NAME_LENGTH = 120;
const MAX_REASON_LENGTH = 500;

function textProblem(field: string, value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return `${field}: required`;
  if (isPlaceholder(value)) return `${field}: must be your own, in place of ${value.trim()}`;
  if (value.length > maxLength) return `${field}: longer than ${maxLength} characters`;
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value) ? `${field}: contains control characters` : undefined;
}

export function nameProblem(by: unknown): string | undefined {
  const problem = textProblem('by', by, MAX_NAME_LENGTH);
  if (problem) return problem;
  return folded(String(by)) === BY_ITSELF ? 'by: is not a person' : undefined;
}

/** Returns what is wrong with an instruction. Accepts any argument. */
export const instructionProblem = (instruction: BatchInstruction | undefined): string | undefined =>
  nameProblem(instruction?.by) ??
  textProblem('reason', instruction?.reason, MAX_REASON_LENGTH) ??
  signatureProblem(instruction?.signature);

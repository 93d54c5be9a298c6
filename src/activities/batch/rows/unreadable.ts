import { ValueError } from '@temporalio/common';
import { PayloadDecryptionError } from '../../../client/errors.js';

/**
 * Why a payload can never be read here: encrypted with a key that this worker lacks, changed, or in a format it does not
 * know; undefined for all other errors, which may pass. Says nothing of what the payload holds.
 */
export function whyUnreadable(error: unknown): string | undefined {
  if (error instanceof PayloadDecryptionError) return error.message;
  // The converter's own errors and those of JSON.parse quote the payload.
  return error instanceof ValueError || error instanceof SyntaxError ? 'payload cannot be decoded' : undefined;
}

import { maskName } from '../masking.js';
import { type BatchInstruction, BY_ITSELF } from './batches.js';

/** Who paused or stopped a batch, and why, as messages and details may show it: people may have typed anything. */
export const shownInterruption = ({ by, reason }: BatchInstruction): BatchInstruction =>
  // The batch's own reasons hold figures, which masking would hide.
  by === BY_ITSELF ? { by, reason } : { by: maskName(by), reason: maskName(reason) };

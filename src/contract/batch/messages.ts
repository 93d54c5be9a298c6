import type { OnlyByCommand } from '../signature.js';
import type { BatchApproval, BatchInstruction } from './batch.js';

/** The query and the updates of a batch. An update returns nothing: the query tells what came of it. */
export const BATCH_MESSAGES = {
  state: 'batchState',
  /** Approves the plan with this digest. */
  approve: 'approve',
  /** Nothing new is sent until `resume`. */
  pause: 'pause',
  resume: 'resume',
  /** Nothing new is sent any more. */
  stop: 'stop',
} as const;

/** Something that a person may do with a batch now. */
export interface BatchChoice {
  update: 'approve' | 'resume' | 'stop';
  /** What it does, for people. */
  does: string;
  /** What the update takes. `by` and `reason` are placeholders, which it refuses. */
  argument: BatchApproval | BatchInstruction;
  onlyByCommand?: OnlyByCommand;
}

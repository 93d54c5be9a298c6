import type { SearchAttributePair } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { BatchPhase } from '../../contract/batch/batch.js';
import { searchAttribute } from '../../contract/names.js';
import { batchDetails } from './batch-details.js';
import { attentionOf, type BatchRun } from './batch-run.js';

/** Moves on to a phase and says what is waited for. */
export function enter(run: BatchRun, phase: BatchPhase, waitingFor: string): void {
  run.phase = phase;
  run.waitingFor = waitingFor;
  show(run);
}

/** Shows the batch to operators; writes search attributes only where they differ from what Temporal has. */
export function show(run: BatchRun): void {
  setCurrentDetails(batchDetails(run));
  const known = workflowInfo().typedSearchAttributes;
  const wanted: SearchAttributePair[] = [
    { key: searchAttribute.needsAttention, value: attentionOf(run) !== undefined },
    { key: searchAttribute.account, value: run.account },
    ...(run.batchId ? [{ key: searchAttribute.batchId, value: run.batchId }] : []),
  ];
  const changed = wanted.filter(({ key, value }) => known.get(key) !== value);
  if (changed.length > 0) upsertSearchAttributes(changed);
}

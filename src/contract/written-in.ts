import type { Payload } from '@temporalio/common';
import { decode, encode } from '@temporalio/common/lib/encoding.js';

/** Metadata, inside what is encrypted. */
const WRITTEN_IN = 'written-in-run';

/** A payload that names the run whose workflow code wrote it: it is bound to the workflow id alone, which other runs have as well. */
export const writtenIn = (runId: string, payload: Payload): Payload => ({
  ...payload,
  metadata: { ...payload.metadata, [WRITTEN_IN]: encode(runId) },
});

/** The run that wrote a payload; undefined for what callers wrote, and for runs of before this mark. */
export const runThatWrote = ({ metadata }: Payload): string | undefined =>
  metadata?.[WRITTEN_IN] && decode(metadata[WRITTEN_IN]);

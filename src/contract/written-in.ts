import { type Payload, str, u8 } from '@temporalio/common';

/** Metadata, inside what is encrypted. */
const WRITTEN_IN = 'written-in-run';

/** A payload that names the run whose workflow code wrote it: it is bound to the workflow id alone, which other runs have as well. */
export const writtenIn = (runId: string, payload: Payload): Payload => ({
  ...payload,
  metadata: { ...payload.metadata, [WRITTEN_IN]: u8(runId) },
});

/** The run that wrote a payload; undefined for what callers wrote, and for runs of before this mark. */
export const runThatWrote = ({ metadata }: Payload): string | undefined =>
  metadata?.[WRITTEN_IN] && str(metadata[WRITTEN_IN]);

import {
  ApplicationFailure,
  DefaultFailureConverter,
  type Payload,
  type PayloadConverter,
  type ProtoFailure,
  type SerializationContext,
  str,
  TemporalFailure,
  u8,
} from '@temporalio/common';
import { placeOf } from './failures.js';

/**
 * Why the codec withholds a payload. 'foreign': its writer lacks the keys, or wrote it for another
 * workflow or activity. 'unreadable': it may be ours, under a key that is not here.
 */
export type RefusedKind = 'foreign' | 'unreadable';

/* Something without the payload keys answered an activity or a child, or started a workflow, which sent nothing. */
export const FOREIGN_ANSWER = 'ForeignAnswer';
export const FOREIGN_START = 'ForeignStart';
/** No JSON has it, and every copy of this module knows it: the SDK loads a worker's converters by `require`. */
const REFUSED = Symbol.for('payment-orders.refused');

/** Stands in for a refused value. */
export class Refused {
  readonly [REFUSED] = true;

  constructor(
    readonly kind: RefusedKind,
    readonly why: string,
  ) {}
}

export const isRefused = (value: unknown): value is Refused =>
  typeof value === 'object' && value !== null && REFUSED in value;

const ENCODING = 'binary/refused';
const KIND = 'refused-kind';

/** Stands for a refused payload between the codec and the converters; only a codec makes it. */
export const refusedPayload = (kind: RefusedKind, why: string): Payload => ({
  metadata: { encoding: u8(ENCODING), [KIND]: u8(kind) },
  data: u8(why),
});

/** Returns why a payload was refused; undefined for every other payload. */
export function refusedIn({ metadata, data }: Payload): Refused | undefined {
  if (!metadata?.encoding || str(metadata.encoding) !== ENCODING) return undefined;
  const kind = metadata[KIND] && str(metadata[KIND]) === 'unreadable' ? 'unreadable' : 'foreign';
  return new Refused(kind, data ? str(data) : '');
}

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

/** The one failure of this kind that the server itself writes: an update whose workflow ended before it. */
const OF_SERVER = 'AcceptedUpdateCompletedWorkflow';

const NOT_OURS = 'a failure that was not written with the payload keys for this workflow';

/**
 * Failures beside encrypted payloads: messages and stack traces pass the codec, except for the
 * place of a bug. The type stays readable, but counts only if the payload holds the same one;
 * `required`: a failure without that payload does not count.
 */
export class EncodedFailures extends DefaultFailureConverter {
  constructor(
    readonly required: boolean,
    readonly foreign: (why: string) => Error = foreignFailure,
  ) {
    super({ encodeCommonAttributes: true });
  }

  override errorToFailure(error: unknown, converter: PayloadConverter, context?: SerializationContext): ProtoFailure {
    const failure = this.errorToFailureInner(error, converter, context);
    const { message, stackTrace, applicationFailureInfo } = failure;
    const hidden = { message, stack_trace: stackTrace, type: applicationFailureInfo?.type ?? '' };
    const encodedAttributes = converter.toPayload(hidden, context);
    const place = error instanceof TemporalFailure ? undefined : placeOf(error);
    return { ...failure, message: 'Encoded failure', stackTrace: place ? `    ${place}` : '', encodedAttributes };
  }

  override failureToError(failure: ProtoFailure, converter: PayloadConverter, context?: SerializationContext): Error {
    if (failure.applicationFailureInfo && !this.#isOurs(failure, converter, context)) return this.foreign(NOT_OURS);
    const error = super.failureToError(failure, converter, context);
    const { details } = error as { details?: unknown[] };
    if (!details?.some(isRefused)) return error;
    // The server itself adds a plain detail to the cancellation of what no worker has started.
    if (failure.applicationFailureInfo) return this.foreign(NOT_OURS);
    return Object.assign(error, { details: [] });
  }

  #isOurs(failure: ProtoFailure, converter: PayloadConverter, context?: SerializationContext): boolean {
    const { encodedAttributes, applicationFailureInfo } = failure;
    const type = applicationFailureInfo?.type ?? '';
    if (!encodedAttributes) return !this.required || type === OF_SERVER;
    const hidden: { type?: string } | Refused | undefined = converter.fromPayload(encodedAttributes, context);
    if (!isRefused(hidden)) return hidden?.type === type || (!this.required && hidden?.type === undefined);
    // A key may be missing here: what it says is waited for, not guessed.
    if (hidden.kind === 'unreadable') throw new Error(hidden.why);
    return false;
  }
}

/** In workflow code: something else than a worker of ours answered. Never final, whatever it claimed to be. */
function foreignFailure(why: string): ApplicationFailure {
  return ApplicationFailure.create({ type: FOREIGN_ANSWER, message: why, nonRetryable: false });
}

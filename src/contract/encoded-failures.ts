import {
  ApplicationFailure,
  DefaultFailureConverter,
  type PayloadConverter,
  type ProtoFailure,
  type SerializationContext,
} from '@temporalio/common';
import { FOREIGN_ANSWER, isRefused, type Refused } from './refused.js';

/** The one failure of this kind that the server itself writes: an update whose workflow ended before it. */
const OF_SERVER = 'AcceptedUpdateCompletedWorkflow';

/** What the hidden part of a failure holds. */
interface Hidden {
  message?: string;
  stack_trace?: string;
  type?: string;
}

/** What is wrong with a failure that nobody with the keys wrote, in words. */
const NOT_OURS = 'a failure that was not written with the payload keys for this workflow';

/**
 * Failures beside encrypted payloads. Messages and stack traces, which may tell amounts, pass the codec. The type stays
 * readable, and since it decides about money it goes through the codec as well: a type that is not the one in the payload is
 * nobody's word. `required`: neither is a failure without that payload.
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
    return { ...failure, message: 'Encoded failure', stackTrace: '', encodedAttributes };
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
    const hidden: Hidden | Refused | undefined = converter.fromPayload(encodedAttributes, context);
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

import {
  ApplicationFailure,
  ContinueAsNew,
  type Headers,
  proxySinks,
  TemporalFailure,
  type WorkflowInterceptors,
  workflowInfo,
} from '@temporalio/workflow';
import { type SpanRef, spanIdOfRun, spanIn, type TraceSinks, traceHeaders } from '../contract/trace.js';

/**
 * Hands the trace of a start on to what the workflow starts, and tells the worker what spans are made of. What the header of the start
 * says is in the history, so that every worker does the same, whether it makes spans or not. Without that header there is nothing to do:
 * no promise, no command, no byte is another one.
 */
export function interceptors(): WorkflowInterceptors {
  /** The span of this run. */
  let own: SpanRef | undefined;
  const passOn = <T extends { headers: Headers }>(input: T): T =>
    own ? { ...input, headers: { ...input.headers, ...traceHeaders(own) } } : input;
  const hear = (name: string, headers: Headers): void => {
    const sender = own && spanIn(headers);
    if (own && sender) proxySinks<TraceSinks>().traces.heard(own, name, sender);
  };
  return {
    inbound: [
      {
        execute: (input, next) => {
          const parent = spanIn(input.headers);
          if (!parent) return next(input);
          own = { traceId: parent.traceId, spanId: spanIdOfRun(workflowInfo().runId) };
          return toldAtEnd(next(input), parent);
        },
        handleSignal: (input, next) => {
          hear(input.signalName, input.headers);
          return next(input);
        },
        handleUpdate: (input, next) => {
          hear(input.name, input.headers);
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(passOn(input)),
        startChildWorkflowExecution: (input, next) => next(passOn(input)),
        continueAsNew: (input, next) => next(passOn(input)),
      },
    ],
  };
}

async function toldAtEnd<T>(run: Promise<T>, parent: SpanRef): Promise<T> {
  const { traces } = proxySinks<TraceSinks>();
  try {
    const result = await run;
    traces.ended(parent, 'completed');
    return result;
  } catch (error) {
    const how = endBy(error);
    if (how) traces.ended(parent, how);
    throw error;
  }
}

/** How a run ends by what was thrown, in a word that is never a person's; undefined: its task is repeated instead. */
function endBy(error: unknown): string | undefined {
  if (error instanceof ContinueAsNew) return 'continued';
  if (!(error instanceof TemporalFailure)) return undefined;
  return (error instanceof ApplicationFailure && error.type) || error.name;
}

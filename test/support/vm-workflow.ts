import { readFile } from 'node:fs/promises';
import { defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { coresdk, temporal } from '@temporalio/proto';
import { VMWorkflowCreator } from '@temporalio/worker/lib/workflow/vm.js';

type Job = coresdk.workflow_activation.IWorkflowActivationJob;
type Command = coresdk.workflow_commands.IWorkflowCommand;

const payload = (value: unknown) => defaultPayloadConverter.toPayload(value) as temporal.api.common.v1.IPayload;
const failure = (message: string) => ({ message, applicationFailureInfo: { nonRetryable: true, type: 'Test' } });

export const signal = (signalName: string, ...args: unknown[]): Job => ({
  signalWorkflow: { signalName, input: args.map(payload) },
});
export const update = (name: string, id: string, ...args: unknown[]): Job => ({
  doUpdate: { id, protocolInstanceId: id, name, input: args.map(payload), runValidator: true, meta: {} },
});
export const timerFired = (seq: number): Job => ({ fireTimer: { seq } });
export const answered = (seq: number, value: unknown): Job => ({
  resolveActivity: { seq, result: { completed: { result: payload(value) } } },
});
export const failed = (seq: number, message: string): Job => ({
  resolveActivity: {
    seq,
    result: {
      failed: {
        failure: {
          message,
          activityFailureInfo: { activityType: { name: 'any' }, activityId: '1' },
          cause: failure(message),
        },
      },
    },
  },
});
export const childStarted = (seq: number): Job => ({
  resolveChildWorkflowExecutionStart: { seq, succeeded: { runId: `child-${seq}` } },
});
export const childExists = (seq: number): Job => ({
  resolveChildWorkflowExecutionStart: { seq, failed: { workflowId: 'child', workflowType: 'child', cause: 1 } },
});
export const signalFailed = (seq: number): Job => ({
  resolveSignalExternalWorkflow: { seq, failure: failure('not found') },
});

/** A workflow of the bundle without a server: a test decides what arrives in one workflow task. */
export async function openVmWorkflow(
  { codePath }: { codePath: string },
  about: { type: string; workflowId: string; args: unknown[]; continuedFrom?: string },
  ...first: Job[]
) {
  const code = await readFile(codePath, 'utf8');
  // No handler for the whole process: a rejection that nobody handles fails the test.
  Object.assign(VMWorkflowCreator, { unhandledRejectionHandlerHasBeenSet: true });
  const sourceMap = { version: 3 as never, sources: [], names: [], mappings: '', file: codePath };
  const creator = await VMWorkflowCreator.create({ code, filename: codePath, sourceMap }, 60_000, new Set());
  let nowMs = Date.UTC(2026, 10, 27);
  const info = {
    ...{ workflowType: about.type, workflowId: about.workflowId, runId: 'run', firstExecutionRunId: 'run' },
    ...{ namespace: 'default', taskQueue: 'payment-orders', attempt: 1, historyLength: 3, historySize: 0 },
    ...{ originalExecutionRunId: 'run', searchAttributes: {}, memo: {}, startTime: new Date(nowMs) },
    ...{ runStartTime: new Date(nowMs), continueAsNewSuggested: false, taskTimeoutMs: 10_000 },
    ...(about.continuedFrom && { continuedFromExecutionRunId: about.continuedFrom }),
    typedSearchAttributes: { getAll: () => [], get: () => undefined },
    unsafe: { isReplaying: false },
  };
  const workflow = await creator.createWorkflow({
    info: info as never,
    randomnessSeed: [1, 2, 3, 4],
    now: nowMs,
    showStackTraceSources: false,
  });
  const commands: Command[] = [];
  const of = (name: keyof Command) => commands.flatMap((command) => (command[name] ? [command[name]] : []));
  /** Runs one workflow task with these jobs; returns its commands. */
  const task = async (jobs: Job[], { historyLength = 3, laterMs = 0 } = {}): Promise<Command[]> => {
    nowMs += laterMs;
    const { successful, failed: bug } = await workflow.activate({
      runId: 'run',
      timestamp: msToTs(nowMs),
      historyLength,
      availableInternalFlags: [1, 2, 3],
      jobs,
    });
    if (bug) throw new Error(bug.failure?.message ?? 'the workflow task failed');
    const made = [...(successful?.commands ?? [])];
    commands.push(...made);
    return made;
  };
  const begun = {
    initializeWorkflow: {
      ...{ workflowType: about.type, workflowId: about.workflowId, arguments: about.args.map(payload) },
      headers: {},
    },
  };
  await task([begun, ...first]);
  return { task, commands, of, seqOf: (name: keyof Command) => (of(name).at(-1) as { seq: number }).seq };
}

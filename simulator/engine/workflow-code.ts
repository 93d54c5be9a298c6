import { type PayloadCodec, TypedSearchAttributes } from '@temporalio/common';
import proto from '@temporalio/proto';
import { atOnce, dateOf } from '../clock.js';
import type { Run } from './run.js';
import { type SandboxedWorkflow, throughCodecs, type WorkflowSandbox } from './sandbox.js';
import { type Fields, GrpcError, type Job, NAMESPACE, type Payload, timestamp } from './wire.js';

const { WorkflowActivation } = proto.coresdk.workflow_activation;
const { WorkflowActivationCompletion } = proto.coresdk.workflow_completion;

/** Workflow code of runs, in the SDK's sandbox. */
export class WorkflowCode {
  constructor(
    private readonly sandbox: WorkflowSandbox,
    private readonly codecs: readonly PayloadCodec[],
  ) {}

  /** Gives jobs to a run's code; returns its commands, or why it failed. */
  async activate(run: Run, jobs: Job[], historyLength: number) {
    // After a reset, the code first learns its history.
    run.workflow ??= (await this.replay(run)).workflow;
    const atMs = Date.now();
    const done = await activate(run.workflow, { runId: run.runId, jobs, historyLength, timestamp: timestamp(atMs) });
    const commands = done.successful?.commands ?? [];
    for (const flag of done.successful?.usedInternalFlags ?? []) run.original.flags.add(flag);
    // Histories hold no refused updates.
    const answers = commands.flatMap(({ updateResponse }) => updateResponse ?? []);
    const isAccepted = (id: unknown) => answers.some((one) => one.accepted && one.protocolInstanceId === id);
    const kept = jobs.filter(({ doUpdate }) => !doUpdate || isAccepted(doUpdate.protocolInstanceId));
    const refused = new Set(
      jobs.filter((job) => !kept.includes(job)).map(({ doUpdate }) => doUpdate?.protocolInstanceId),
    );
    const given = commands.filter(({ updateResponse }) => !refused.has(updateResponse?.protocolInstanceId));
    run.activations.push({ jobs: kept, atMs, historyLength, given, commands: given.map(nameOf) });
    return { commands, failed: done.failed ? (done.failed.failure?.message ?? '') : undefined };
  }

  async #createWorkflow(run: Run): Promise<SandboxedWorkflow> {
    const { start } = run;
    const { workflowId } = start;
    const parent = start.parent?.run;
    const workflow = await this.sandbox.createWorkflow({
      info: {
        ...{ workflowId, runId: run.runId, workflowType: start.type, taskQueue: start.taskQueue },
        ...{ searchAttributes: {}, typedSearchAttributes: new TypedSearchAttributes(), namespace: NAMESPACE, memo: {} },
        ...{
          firstExecutionRunId: run.firstRunId,
          originalExecutionRunId: run.original.runId,
          attempt: 1,
          taskTimeoutMs: 10_000,
        },
        continuedFromExecutionRunId: start.continuedFrom?.runId,
        ...(parent && { parent: { ...parent.execution, namespace: NAMESPACE } }),
        ...{ startTime: dateOf(run.startMs), runStartTime: dateOf(run.startMs), historyLength: 3, historySize: 0 },
        ...{
          continueAsNewSuggested: false,
          unsafe: { now: () => Date.now(), isReplaying: false, isReplayingHistoryEvents: false },
        },
      },
      randomnessSeed: [...Buffer.from(run.original.runId.replace(/-/g, ''), 'hex').subarray(8)],
      now: run.startMs,
      showStackTraceSources: false,
    });
    return throughCodecs(workflow, this.codecs, { namespace: NAMESPACE, workflowId });
  }

  /** The answer of a query. A closed run is replayed for it, as workers do. */
  async query(run: Run, queryType: string, args: Payload[], headers: Fields): Promise<Payload | undefined> {
    const workflow = run.workflow ?? (await this.replay(run)).workflow;
    const job = { queryWorkflow: { queryId: 'legacy', queryType, arguments: args, headers } };
    const done = await activate(workflow, { runId: run.runId, jobs: [job], timestamp: timestamp(Date.now()) });
    if (!run.workflow) await workflow.dispose();
    const answer = done.successful?.commands?.[0]?.respondToQuery;
    if (answer?.succeeded) return answer.succeeded.response ?? undefined;
    throw new GrpcError(3, answer?.failed?.message ?? done.failed?.failure?.message ?? 'the query failed');
  }

  /** Runs all activations again in a fresh sandbox. `differs`: the first activation with other commands. */
  async replay(run: Run): Promise<{ workflow: SandboxedWorkflow; differs?: number }> {
    const workflow = await this.#createWorkflow(run);
    let differs: number | undefined;
    for (const [n, { jobs, atMs, historyLength, commands }] of run.activations.entries()) {
      const replayed = jobs.map((job) => (job.doUpdate ? { doUpdate: { ...job.doUpdate, runValidator: false } } : job));
      if (replayed.length === 0) continue;
      const isReplaying = true;
      const availableInternalFlags = [...run.original.flags];
      const about = { runId: run.runId, jobs: replayed, historyLength, isReplaying, availableInternalFlags };
      const done = await activate(workflow, { ...about, timestamp: timestamp(atMs) });
      if (String((done.successful?.commands ?? []).map(nameOf)) !== String(commands)) differs ??= n;
    }
    return { workflow, ...(differs !== undefined && { differs }) };
  }
}

async function activate(workflow: SandboxedWorkflow, activation: object) {
  // Through bytes, as between core and the SDK: nothing of the sandbox's realm comes out.
  const given = WorkflowActivation.fromObject({ isReplaying: false, ...activation });
  const done = await atOnce(() => workflow.activate(given));
  const answer = WorkflowActivationCompletion.encode(done as never).finish();
  await workflow.getAndResetSinkCalls();
  return WorkflowActivationCompletion.decode(answer);
}

/** A command by its kind and the number or name that makes it one. */
const nameOf = (command: proto.coresdk.workflow_commands.IWorkflowCommand): string => {
  // A property of the decoded message, which its type lacks.
  const kind = (command as { variant?: keyof typeof command }).variant;
  const value = kind && command[kind];
  const { seq, activityType, workflowId, protocolInstanceId } = Object(value);
  return [kind, seq, activityType, workflowId, protocolInstanceId].filter((part) => part !== undefined).join(' ');
};

/** The one file that uses private modules of the SDK: the version is pinned in package.json. */
import { createRequire } from 'node:module';
import type { PayloadCodec } from '@temporalio/common';
import type proto from '@temporalio/proto';

const require = createRequire(import.meta.url);

type Activation = proto.coresdk.workflow_activation.IWorkflowActivation;
type Completion = proto.coresdk.workflow_completion.IWorkflowActivationCompletion;

/** A workflow in the SDK's sandbox. */
export interface SandboxedWorkflow {
  activate(activation: Activation): Promise<Completion>;
  getAndResetSinkCalls(): Promise<unknown[]>;
  dispose(): Promise<void>;
}

/** Makes workflows of one bundle. */
export interface WorkflowSandbox {
  createWorkflow(options: object): Promise<SandboxedWorkflow>;
}

/** Loads a bundle as a worker does. `activities`: names that the worker knows. */
export async function openSandbox(code: string, activities: readonly string[]): Promise<WorkflowSandbox> {
  const { parseWorkflowCode } = require('@temporalio/worker/lib/worker.js');
  const { ReusableVMWorkflowCreator } = require('@temporalio/worker/lib/workflow/reusable-vm.js');
  const { globalHandlers } = require('@temporalio/worker/lib/workflow/vm-shared.js');
  // Stacks of all promises, for the query `__stack_trace`, cost more than the workflows.
  globalHandlers.installed = true;
  // Without a time limit, which costs a thread for each call into the sandbox.
  return ReusableVMWorkflowCreator.create(parseWorkflowCode(code), undefined, new Set(activities));
}

/** The same workflow, whose payloads go through codecs on their way in and out. */
export function throughCodecs(
  workflow: SandboxedWorkflow,
  codecs: readonly PayloadCodec[],
  context: { namespace: string; workflowId: string },
): SandboxedWorkflow {
  if (codecs.length === 0) return workflow;
  const { WorkflowCodecRunner } = require('@temporalio/worker/lib/workflow-codec-runner.js');
  const runner = new WorkflowCodecRunner(codecs, { type: 'workflow', ...context });
  return {
    activate: async (activation) =>
      runner.encodeCompletion(await workflow.activate(await runner.decodeActivation(activation))),
    getAndResetSinkCalls: () => workflow.getAndResetSinkCalls(),
    dispose: () => workflow.dispose(),
  };
}

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Lab, openLab } from '../support/lab.js';

const { CommandType } = proto.temporal.api.enums.v1;
type Command = proto.temporal.api.command.v1.ICommand;

/** Namespace of somebody else on the same server. */
const THEIRS = `theirs-${randomUUID()}`;

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ workers: false });
  const { client } = lab.temporal;
  const workflowExecutionRetentionPeriod = msToTs('1 day');
  await client.workflowService.registerNamespace({ namespace: THEIRS, workflowExecutionRetentionPeriod });
  await sleep(1_000);
});
afterAll(() => lab.close());

/** Runs a workflow in the other namespace whose worker gives this command. */
async function command(given: Command): Promise<void> {
  const { client } = lab.temporal;
  const { workflowService } = client;
  const taskQueue = { name: `queue-${randomUUID()}` };
  const started = { namespace: THEIRS, workflowType: { name: 'any' }, taskQueue, requestId: randomUUID() };
  await vi.waitFor(
    () => workflowService.startWorkflowExecution({ ...started, workflowId: `w-${randomUUID()}` }),
    30_000,
  );
  const { taskToken } = await client.withDeadline(Date.now() + 60_000, () =>
    workflowService.pollWorkflowTaskQueue({ namespace: THEIRS, taskQueue, identity: 'x' }),
  );
  await workflowService
    .respondWorkflowTaskCompleted({ namespace: THEIRS, taskToken, commands: [given] })
    .catch(() => undefined);
  // The server carries out what it took in the background.
  await sleep(2_000);
}

test('a worker of another namespace starts, signals and cancels nothing in this one', async () => {
  const { client, namespace } = lab.temporal;
  const target = await client.workflow.start('withdraw', { workflowId: randomUUID(), taskQueue: 'nobody', args: [] });
  const { workflowId } = target;
  const child = randomUUID();
  await command({
    commandType: CommandType.COMMAND_TYPE_START_CHILD_WORKFLOW_EXECUTION,
    startChildWorkflowExecutionCommandAttributes: {
      ...{ namespace, workflowId: child, workflowType: { name: 'withdraw' }, taskQueue: { name: 'nobody' } },
    },
  });
  await command({
    commandType: CommandType.COMMAND_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION,
    signalExternalWorkflowExecutionCommandAttributes: { namespace, execution: { workflowId }, signalName: 'anything' },
  });
  await command({
    commandType: CommandType.COMMAND_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION,
    requestCancelExternalWorkflowExecutionCommandAttributes: { namespace, workflowId },
  });
  const { events } = await target.fetchHistory();
  const kinds = (events ?? []).flatMap((event) => Object.keys(event).filter((name) => name.endsWith('Attributes')));
  expect(kinds.filter((kind) => /signaled|cancelRequested/i.test(kind))).toEqual([]);
  await expect(client.workflow.getHandle(child).describe()).rejects.toMatchObject({ name: 'WorkflowNotFoundError' });
});

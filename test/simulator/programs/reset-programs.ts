import type { WorkflowHandle } from '@temporalio/client';
import type { Lab, Program } from './lab.js';
import { ended } from './texts.js';

const add = (handle: WorkflowHandle, text: string, updateId: string) =>
  ended(handle.executeUpdate('add', { args: [text], updateId }));

/** Lives a life up to its child, which waits. */
async function live(lab: Lab): Promise<WorkflowHandle> {
  const handle = await lab.start('life', [lab.idOf('child'), 'fail', 'ok']);
  await lab.until(async () => (await handle.query<string[]>('all')).length === 1);
  await add(handle, 'two', 'two');
  await handle.signal('note', 'one');
  await lab.seen(handle.workflowId, 'CHILD_WORKFLOW_EXECUTION_STARTED');
  // Whoever answers has done the task before.
  await handle.query('all');
  return handle;
}

/** Waits until the newest run has a child or is refused one. */
const untilChild = (lab: Lab, { workflowId }: WorkflowHandle) =>
  lab.seen(workflowId, /^(CHILD_WORKFLOW_EXECUTION_STARTED|START_CHILD_WORKFLOW_EXECUTION_FAILED)/);

const endChild = (lab: Lab) => ended(lab.client.workflow.getHandle(lab.idOf('child')).signal('finish'));

/** Ends a life: its child, and then itself. */
async function end(lab: Lab, handle: WorkflowHandle): Promise<unknown> {
  await untilChild(lab, handle);
  await endChild(lab);
  await lab.until(
    async () =>
      (await lab.events(handle.workflowId)).filter((one) => one.startsWith('ACTIVITY_TASK_COMPLETED')).length === 2,
  );
  await handle.signal('finish');
  return ended(handle.result());
}

const resets: Program[] = [
  ...[0, 1, 2, -1].map(
    (task): Program => ({
      name: `reset of an open run to its ${task < 0 ? 'last task' : `task ${task}`}`,
      isUnordered: true,
      run: async (lab) => {
        await live(lab);
        const handle = await lab.reset(lab.idOf('one'), task);
        const repeated = await add(handle, 'other', 'two');
        const later = await add(handle, 'three', 'three');
        return [repeated, later, await end(lab, handle)];
      },
    }),
  ),
  ...[0, 1, -1].map(
    (task): Program => ({
      name: `reset of an ended run to its ${task < 0 ? 'last task' : `task ${task}`}`,
      isUnordered: true,
      run: async (lab) => {
        await end(lab, await live(lab));
        const handle = await lab.reset(lab.idOf('one'), task);
        // The signal that ended the run comes again.
        if (task >= 0) {
          await untilChild(lab, handle);
          await endChild(lab);
        }
        return ended(handle.result());
      },
    }),
  ),
  {
    name: 'reset twice',
    isUnordered: true,
    run: async (lab) => {
      const handle = await lab.start('life', ['']);
      await lab.until(async () => (await handle.query<string[]>('all')).length === 1);
      await add(handle, 'two', 'two');
      await handle.signal('note', 'one');
      await lab.until(async () => (await handle.query<string[]>('all')).includes('slept'));
      const { startTime } = await handle.describe();
      const again = await lab.reset(handle.workflowId, 0);
      await lab.until(async () => (await again.query<string[]>('all')).includes('slept'));
      await add(again, 'three', 'three');
      const last = await lab.reset(handle.workflowId, 0);
      await last.signal('finish');
      const isNewer = (await last.describe()).startTime > startTime;
      return [isNewer, await ended(last.result()), await ended(handle.result())];
    },
  },
  {
    name: 'reset of a run that was asked to cancel',
    isUnordered: true,
    run: async (lab) => {
      const handle = await lab.start('life', ['']);
      await lab.seen(handle.workflowId, 'ACTIVITY_TASK_COMPLETED');
      await handle.cancel();
      const result = await ended(handle.result());
      const again = await lab.reset(handle.workflowId, 0);
      await lab.seen(handle.workflowId, 'ACTIVITY_TASK_COMPLETED');
      await lab.sleep(500);
      const status = (await again.describe()).status.name;
      await again.terminate('enough');
      return [result, status];
    },
  },
  ...(['timer', 'activity', 'child'] as const).flatMap((what) =>
    [0, 1].map(
      (task): Program => ({
        name: `reset to task ${task} with ${what === 'activity' ? 'an' : 'a'} ${what} under way`,
        isUnordered: true,
        run: async (lab) => {
          const child = lab.idOf('child');
          const handle = await lab.start('underWay', [what, child]);
          const begun = {
            timer: 'TIMER_STARTED',
            activity: 'ACTIVITY_TASK_SCHEDULED',
            child: 'CHILD_WORKFLOW_EXECUTION_STARTED',
          };
          await lab.seen(handle.workflowId, begun[what]);
          if (what === 'activity') await lab.started(handle);
          await handle.signal('note', 'one');
          await lab.sleep(500);
          const again = await lab.reset(handle.workflowId, task);
          if (what === 'child') {
            await untilChild(lab, again);
            await endChild(lab);
          }
          if (what === 'activity') {
            await lab.started(again);
            await lab.complete(again);
          }
          const result = await ended(again.result());
          if (what === 'child') {
            await ended(lab.client.workflow.getHandle(child).result());
            lab.watch(child);
          }
          return result;
        },
      }),
    ),
  ),
  {
    name: 'reset to no workflow task',
    run: async (lab) => {
      const handle = await lab.start('notes', []);
      await handle.signal('note', 'one');
      await handle.query('all');
      return ended(lab.reset(handle.workflowId, 0, { workflowTaskFinishEventId: 1 }));
    },
  },
];

/** Programs of resets. */
export const resetPrograms: Program[] = resets;

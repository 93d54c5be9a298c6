import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';

/** What an attempt does. */
export type Step = keyof typeof steps;

/** Attempts that began: workflow, number and heartbeat details of the attempt before. */
export const begun: { workflowId: string; what: string }[] = [];

let release = (): void => undefined;
const released = new Promise<void>((resolve) => {
  release = resolve;
});
/** Ends attempts that hang: workers wait for them. */
export const releaseAll = (): void => release();

const steps = {
  ok: async () => ({ attempt: activityInfo().attempt, details: activityInfo().heartbeatDetails ?? null }),
  fail: async () => {
    throw ApplicationFailure.create({ message: 'it failed', type: 'Failed', details: ['why'] });
  },
  plain: async () => {
    throw new Error('plain');
  },
  final: async () => {
    throw ApplicationFailure.nonRetryable('it is final', 'Final');
  },
  later: async () => {
    throw ApplicationFailure.create({ message: 'later', type: 'Later', nextRetryDelay: '300 ms' });
  },
  cancelledByItself: async () => {
    throw new CancelledFailure('nobody asked for it');
  },
  hang: () => released,
  beatOnce: async () => {
    heartbeat(`beat of ${activityInfo().attempt}`);
    await released;
  },
  beatAndFail: async () => {
    heartbeat(`beat of ${activityInfo().attempt}`);
    return steps.fail();
  },
  beat: async () => {
    const { cancellationSignal, cancelled } = Context.current();
    while (!cancellationSignal.aborted && !(await isReleased())) {
      heartbeat('beating');
      await sleep(100);
    }
    return cancelled;
  },
  beatThenDone: async () => {
    const { cancellationSignal } = Context.current();
    while (!cancellationSignal.aborted && !(await isReleased())) {
      heartbeat('beating');
      await sleep(100);
    }
    return 'done all the same';
  },
  beatThenFail: async () => {
    await steps.beatThenDone();
    return steps.fail();
  },
};

const isReleased = (): Promise<boolean> =>
  Promise.race([released.then(() => true), Promise.resolve().then(() => false)]);

/** Does the step of its attempt; the last one again for all later ones. */
export async function work(...plan: Step[]): Promise<unknown> {
  const { attempt, workflowExecution, heartbeatDetails } = activityInfo();
  const workflowId = workflowExecution?.workflowId ?? '';
  begun.push({ workflowId, what: `attempt ${attempt} ${JSON.stringify(heartbeatDetails ?? null)}` });
  return steps[plan[Math.min(attempt, plan.length) - 1] ?? 'ok']();
}

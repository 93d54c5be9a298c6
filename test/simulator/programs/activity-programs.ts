import type { WorkflowHandle } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { Step } from './activities.js';
import type { Lab, Program } from './lab.js';
import { ended } from './texts.js';

/** A program of one activity: its limits and tries, and what its attempts do. */
const oneActivity = (name: string, limits: object, ...steps: Step[]): Program => ({
  name,
  run: async (lab) => ended((await lab.start('calls', [limits, ...steps])).result()),
});

const UNTAKEN = { taskQueue: 'nobody' };

/** Limits that programs reach. */
const ends: Program[] = [
  oneActivity('completed', {}, 'ok'),
  oneActivity('completed at the third attempt', {}, 'fail', 'plain', 'ok'),
  oneActivity('not retryable', {}, 'final'),
  oneActivity('not retryable by its type', { retry: { nonRetryableErrorTypes: ['Failed'] } }, 'fail'),
  oneActivity('two attempts at most', { retry: { maximumAttempts: 2 } }, 'plain', 'fail'),
  oneActivity('its next delay', { retry: { initialInterval: '1 hour' } }, 'later', 'ok'),
  oneActivity('its next delay at the last attempt', { retry: { maximumAttempts: 1 } }, 'later'),
  oneActivity('cancelled by itself', { retry: { maximumAttempts: 2 } }, 'cancelledByItself', 'ok'),
  oneActivity('start to close', { startToCloseTimeout: '1 second', retry: { maximumAttempts: 1 } }, 'hang'),
  oneActivity('start to close, then another attempt', { startToCloseTimeout: '1 second' }, 'hang', 'ok'),
  oneActivity(
    'start to close after a heartbeat',
    { startToCloseTimeout: '1 second', retry: { maximumAttempts: 2 } },
    'beatOnce',
  ),
  oneActivity('heartbeat', { heartbeatTimeout: '1 second', retry: { maximumAttempts: 1 } }, 'beatOnce'),
  oneActivity(
    'heartbeat, then another attempt with its details',
    { heartbeatTimeout: '1 second' },
    'beatOnce',
    'hang',
    'ok',
  ),
  oneActivity(
    'details of failed attempts',
    { heartbeatTimeout: '1 minute' },
    'beatAndFail',
    'fail',
    'beatAndFail',
    'ok',
  ),
  oneActivity('schedule to start', { ...UNTAKEN, scheduleToStartTimeout: '1 second' }, 'ok'),
  oneActivity('schedule to close, untaken', { ...UNTAKEN, scheduleToCloseTimeout: '1 second' }, 'ok'),
  oneActivity('schedule to close, running', { scheduleToCloseTimeout: '2 seconds' }, 'hang'),
  oneActivity(
    'schedule to close, after failures',
    { scheduleToCloseTimeout: '3 seconds', retry: { initialInterval: '5 seconds' } },
    'fail',
  ),
  oneActivity('schedule to close, in an attempt after one', { scheduleToCloseTimeout: '3 seconds' }, 'fail', 'hang'),
  oneActivity(
    'start to close beyond schedule to close',
    { startToCloseTimeout: '1 second', scheduleToCloseTimeout: '1500 ms', retry: { initialInterval: '1 second' } },
    'hang',
  ),
];

/** Cancels the activity of a workflow once it is `started` or `waiting`, sees whether that is answered, and ends it. */
const cancelled = (
  name: string,
  limits: object,
  steps: Step[],
  until: 'started' | 'waiting',
  attempt = 1,
): Program => ({
  name: `cancelled: ${name}`,
  run: async (lab) => {
    const handle = await lab.start('cancels', [limits, ...steps]);
    await lab[until](handle, attempt);
    await handle.signal('cancel');
    if (isKept(limits, steps)) await lab.sleep(1_000);
    else await lab.until(async () => !(await lab.pending(handle)));
    const result = await handle.query('result');
    const open = await lab.pending(handle);
    await handle.signal('finish');
    return [result, open ?? null, await ended(handle.result())];
  },
});

/** Whether the server keeps an activity that its workflow gave up. */
const isKept = (limits: object, steps: Step[]): boolean =>
  'cancellationType' in limits &&
  (limits.cancellationType === 'ABANDON' || (limits.cancellationType === 'TRY_CANCEL' && steps[0] === 'hang'));

const TRIES = { cancellationType: 'TRY_CANCEL' };
const WAITS = { cancellationType: 'WAIT_CANCELLATION_COMPLETED' };
const ABANDONS = { cancellationType: 'ABANDON' };
const BEATS = { heartbeatTimeout: '10 seconds' };
const SLOWLY = { retry: { initialInterval: '1 hour' } };

const cancellations: Program[] = [
  cancelled('try, heard', { ...TRIES, ...BEATS }, ['beat'], 'started'),
  cancelled('try, done all the same', { ...TRIES, ...BEATS }, ['beatThenDone'], 'started'),
  cancelled('try, not heard', TRIES, ['hang'], 'started'),
  cancelled('try, untaken', { ...TRIES, ...UNTAKEN }, ['ok'], 'waiting'),
  cancelled('try, between attempts', { ...TRIES, ...SLOWLY }, ['fail'], 'waiting', 2),
  cancelled('wait, heard', { ...WAITS, ...BEATS }, ['beat'], 'started'),
  cancelled('wait, done all the same', { ...WAITS, ...BEATS }, ['beatThenDone'], 'started'),
  cancelled('wait, failed instead', { ...WAITS, ...BEATS }, ['beatThenFail'], 'started'),
  cancelled('wait, untaken', { ...WAITS, ...UNTAKEN }, ['ok'], 'waiting'),
  cancelled('wait, between attempts', { ...WAITS, ...SLOWLY }, ['fail'], 'waiting', 2),
  cancelled('wait, timed out', { ...WAITS, startToCloseTimeout: '3 seconds' }, ['hang'], 'started'),
  cancelled('abandon, running', ABANDONS, ['hang'], 'started'),
  cancelled('abandon, untaken', { ...ABANDONS, ...UNTAKEN }, ['ok'], 'waiting'),
  {
    name: 'abandoned activity completes',
    run: async (lab) => {
      const handle = await lab.start('cancels', [ABANDONS, 'hang']);
      await lab.started(handle);
      await handle.signal('cancel');
      await lab.until(() => handle.query('result'));
      await lab.complete(handle);
      await lab.seen(handle.workflowId, 'ACTIVITY_TASK_COMPLETED');
      await handle.signal('finish');
      return ended(handle.result());
    },
  },
];

/** An operator's acts on the one activity of a workflow. */
const operated = (
  name: string,
  limits: object,
  steps: Step[],
  act: (lab: Lab, handle: WorkflowHandle) => Promise<unknown>,
): Program => ({
  name,
  run: async (lab) => {
    const handle = await lab.start('tries', [limits, ...steps]);
    const seen = await act(lab, handle);
    return [seen, await ended(handle.result())];
  },
});

const failure = { message: 'given up', applicationFailureInfo: { type: 'GivenUp' } };
const finalFailure = { message: 'given up', applicationFailureInfo: { type: 'GivenUp', nonRetryable: true } };
const fail = (lab: Lab, handle: WorkflowHandle, given: object = failure) =>
  lab.client.workflowService.respondActivityTaskFailedById({ ...lab.target(handle), failure: given });
const change = (lab: Lab, handle: WorkflowHandle, activityOptions: object, ...paths: string[]) =>
  lab.client.workflowService.updateActivityOptions({ ...lab.target(handle), activityOptions, updateMask: { paths } });

const pauses: Program[] = [
  operated('paused while running, completes', {}, ['hang'], async (lab, handle) => {
    await lab.started(handle);
    await lab.pause(handle);
    const paused = await lab.pending(handle);
    await lab.complete(handle);
    return paused;
  }),
  operated('paused while running, hears of it', BEATS, ['beat', 'ok'], async (lab, handle) => {
    await lab.started(handle);
    await lab.pause(handle);
    await lab.sleep(1_500);
    const paused = await lab.pending(handle);
    await lab.unpause(handle);
    return paused;
  }),
  operated('paused while running, fails', {}, ['hang', 'ok'], async (lab, handle) => {
    await lab.started(handle);
    await lab.pause(handle);
    await fail(lab, handle);
    await lab.sleep(1_000);
    const paused = await lab.pending(handle);
    await lab.unpause(handle);
    return paused;
  }),
  operated(
    'paused between attempts',
    { retry: { initialInterval: '2 seconds' } },
    ['fail', 'ok'],
    async (lab, handle) => {
      await lab.waiting(handle, 2);
      await lab.pause(handle);
      await lab.sleep(2_500);
      const paused = await lab.pending(handle);
      await lab.unpause(handle);
      return paused;
    },
  ),
  operated('unpaused before its next attempt is due', SLOWLY, ['fail', 'ok'], async (lab, handle) => {
    await lab.waiting(handle, 2);
    await lab.pause(handle);
    await lab.unpause(handle);
  }),
  operated('paused untaken', { taskQueue: 'later' }, ['ok'], async (lab, handle) => {
    await lab.waiting(handle);
    await lab.pause(handle);
    await lab.serve('later');
    await lab.sleep(1_000);
    const paused = await lab.pending(handle);
    await lab.unpause(handle);
    return paused;
  }),
  operated('paused twice, unpaused twice', SLOWLY, ['fail', 'hang'], async (lab, handle) => {
    await lab.waiting(handle, 2);
    const twice = [await ended(lab.pause(handle)), await ended(lab.pause(handle))];
    const again = [await ended(lab.unpause(handle)), await ended(lab.unpause(handle))];
    // Which comes first, this attempt or its end, is chance.
    await lab.started(handle, 2);
    await lab.complete(handle);
    return [twice, again];
  }),
  operated(
    'unpaused with its attempts and heartbeat reset',
    { ...SLOWLY, ...BEATS },
    ['beatAndFail', 'ok'],
    async (lab, handle) => {
      await lab.waiting(handle, 2);
      await lab.pause(handle);
      await lab.unpause(handle, { resetAttempts: true, resetHeartbeat: true });
      await lab.waiting(handle, 2);
      await lab.pause(handle);
      await lab.unpause(handle, { resetHeartbeat: true });
    },
  ),
  operated('unpaused with its attempts reset while running', {}, ['fail', 'hang'], async (lab, handle) => {
    await lab.started(handle, 2);
    await lab.pause(handle);
    await lab.unpause(handle, { resetAttempts: true });
    const pending = await lab.pending(handle);
    await lab.complete(handle);
    return pending;
  }),
  operated(
    'start to close passes while paused',
    { startToCloseTimeout: '2 seconds', retry: { maximumAttempts: 1 } },
    ['hang'],
    async (lab, handle) => {
      await lab.started(handle);
      await lab.pause(handle);
      await lab.sleep(3_000);
      const paused = await lab.pending(handle);
      await lab.unpause(handle);
      return paused;
    },
  ),
  operated(
    'start to close passes while paused, with attempts left',
    { startToCloseTimeout: '2 seconds' },
    ['hang', 'ok'],
    async (lab, handle) => {
      await lab.started(handle);
      await lab.pause(handle);
      await lab.sleep(3_000);
      const paused = await lab.pending(handle);
      await lab.unpause(handle);
      return paused;
    },
  ),
  operated(
    'heartbeat passes while paused',
    { heartbeatTimeout: '2 seconds', retry: { maximumAttempts: 1 } },
    ['beatOnce'],
    async (lab, handle) => {
      await lab.started(handle);
      await lab.pause(handle);
      await lab.sleep(3_000);
      const paused = await lab.pending(handle);
      await lab.unpause(handle);
      return paused;
    },
  ),
  operated(
    'schedule to start passes while paused',
    { ...UNTAKEN, scheduleToStartTimeout: '2 seconds' },
    ['ok'],
    async (lab, handle) => {
      await lab.waiting(handle);
      await lab.pause(handle);
      await lab.sleep(3_000);
      const paused = await lab.pending(handle);
      await lab.unpause(handle);
      return paused;
    },
  ),
  operated(
    'schedule to close passes while paused',
    { ...SLOWLY, scheduleToCloseTimeout: '3 seconds', retry: { initialInterval: '2 seconds' } },
    ['fail', 'ok'],
    async (lab, handle) => {
      await lab.waiting(handle, 2);
      await lab.pause(handle);
      await lab.sleep(4_000);
      const paused = await lab.pending(handle);
      await lab.unpause(handle);
      return paused;
    },
  ),
  operated(
    'answered while its limit has passed in a pause',
    { startToCloseTimeout: '2 seconds', retry: { maximumAttempts: 1 } },
    ['hang'],
    async (lab, handle) => {
      await lab.started(handle);
      await lab.pause(handle);
      await lab.sleep(3_000);
      return ended(lab.complete(handle));
    },
  ),
];

const answers: Program[] = [
  operated('completed by its id while running', {}, ['hang'], async (lab, handle) => {
    await lab.started(handle);
    return ended(lab.complete(handle));
  }),
  operated('completed by its id untaken', UNTAKEN, ['ok'], async (lab, handle) => {
    await lab.waiting(handle);
    return ended(lab.complete(handle));
  }),
  operated('completed by its id between attempts', SLOWLY, ['fail'], async (lab, handle) => {
    await lab.waiting(handle, 2);
    return ended(lab.complete(handle));
  }),
  operated('completed by its id while paused', SLOWLY, ['fail'], async (lab, handle) => {
    await lab.waiting(handle, 2);
    await lab.pause(handle);
    return ended(lab.complete(handle));
  }),
  operated('failed by its id while running', {}, ['hang', 'ok'], async (lab, handle) => {
    await lab.started(handle);
    return ended(fail(lab, handle));
  }),
  operated('failed for good by its id while running', {}, ['hang', 'ok'], async (lab, handle) => {
    await lab.started(handle);
    return ended(fail(lab, handle, finalFailure));
  }),
  operated(
    'failed by its id between attempts',
    { retry: { initialInterval: '2 seconds' } },
    ['fail', 'ok'],
    async (lab, handle) => {
      await lab.waiting(handle, 2);
      return ended(fail(lab, handle, finalFailure));
    },
  ),
  operated('failed by its id while paused untaken', { taskQueue: 'later too' }, ['ok'], async (lab, handle) => {
    await lab.waiting(handle);
    await lab.pause(handle);
    const result = await ended(fail(lab, handle, finalFailure));
    await lab.serve('later too');
    const unpaused = await ended(lab.unpause(handle));
    return [result, unpaused];
  }),
  operated('failed for good by its id while paused running', {}, ['hang'], async (lab, handle) => {
    await lab.started(handle);
    await lab.pause(handle);
    return ended(fail(lab, handle, finalFailure));
  }),
  operated(
    'failed by its id at its last attempt while paused running',
    { retry: { maximumAttempts: 1 } },
    ['hang', 'ok'],
    async (lab, handle) => {
      await lab.started(handle);
      await lab.pause(handle);
      await fail(lab, handle);
      const paused = await lab.pending(handle);
      await lab.unpause(handle);
      return paused;
    },
  ),
  operated('calls on an activity that is not there', {}, ['hang'], async (lab, handle) => {
    const { workflowService } = lab.client;
    await lab.started(handle);
    const target = lab.target(handle, '7');
    const seen = [
      await ended(workflowService.pauseActivity(target)),
      await ended(workflowService.unpauseActivity(target)),
      await ended(workflowService.respondActivityTaskFailedById({ ...target, failure })),
      await ended(
        workflowService.updateActivityOptions({
          ...target,
          activityOptions: { startToCloseTimeout: msToTs('1 second') },
          updateMask: { paths: ['start_to_close_timeout'] },
        }),
      ),
    ];
    await lab.complete(handle);
    return seen;
  }),
  {
    name: 'calls on an activity of an ended run',
    run: async (lab) => {
      const handle = await lab.start('tries', [{}, 'ok']);
      await handle.result();
      return [
        await ended(lab.pause(handle)),
        await ended(lab.unpause(handle)),
        await ended(fail(lab, handle)),
        await ended(lab.complete(handle)),
        await ended(change(lab, handle, { startToCloseTimeout: msToTs('1 second') }, 'start_to_close_timeout')),
      ];
    },
  },
];

const changes: Program[] = [
  operated('a shorter limit while running', { retry: { maximumAttempts: 1 } }, ['hang'], async (lab, handle) => {
    await lab.started(handle);
    await change(lab, handle, { startToCloseTimeout: msToTs('1 second') }, 'start_to_close_timeout');
  }),
  operated(
    'a longer limit while running',
    { startToCloseTimeout: '2 seconds', retry: { maximumAttempts: 1 } },
    ['hang'],
    async (lab, handle) => {
      await lab.started(handle);
      await change(lab, handle, { startToCloseTimeout: msToTs('1 minute') }, 'start_to_close_timeout');
      await lab.sleep(2_500);
      await lab.complete(handle);
    },
  ),
  operated('fewer attempts while running', {}, ['hang', 'ok'], async (lab, handle) => {
    await lab.started(handle);
    await change(lab, handle, { retryPolicy: { maximumAttempts: 1 } }, 'retry_policy.maximum_attempts');
    await fail(lab, handle);
  }),
  operated(
    'more attempts while running',
    { retry: { maximumAttempts: 1 } },
    ['hang', 'fail', 'ok'],
    async (lab, handle) => {
      await lab.started(handle);
      await change(lab, handle, { retryPolicy: { maximumAttempts: 5 } }, 'retry_policy.maximum_attempts');
      await fail(lab, handle);
    },
  ),
  operated('a shorter wait between attempts', SLOWLY, ['fail', 'ok'], async (lab, handle) => {
    await lab.waiting(handle, 2);
    await change(
      lab,
      handle,
      { retryPolicy: { initialInterval: msToTs('1 second') } },
      'retry_policy.initial_interval',
    );
  }),
];

/** Programs of activities. */
export const activityPrograms: Program[] = [...ends, ...cancellations, ...pauses, ...answers, ...changes];

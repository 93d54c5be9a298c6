import * as workflow from '@temporalio/workflow';
import type { work } from './activities.js';
import { ended, textOf } from './texts.js';

type Step = Parameters<typeof work>[number];

/** Limits and tries of an activity; its defaults make tests short. */
type Limits = Partial<workflow.ActivityOptions>;

const start = (limits: Limits, steps: Step[]): Promise<unknown> =>
  workflow
    .proxyActivities<{ work: typeof work }>({
      startToCloseTimeout: '1 minute',
      ...limits,
      retry: { initialInterval: '100 ms', ...limits.retry },
    })
    .work(...steps);

const finish = workflow.defineSignal('finish');
const cancel = workflow.defineSignal('cancel');
const note = workflow.defineSignal<[string]>('note');

/** Knows from now on whether a signal came; what it returns waits for it. */
function signalled(signal: workflow.SignalDefinition<[], string>): () => Promise<void> {
  let is = false;
  workflow.setHandler(signal, () => {
    is = true;
  });
  return () => workflow.condition(() => is);
}

/** One activity, whose end is the workflow's. */
export const calls = (limits: Limits, ...steps: Step[]): Promise<unknown> => start(limits, steps);

/** One activity; how it ended is the result. */
export const tries = (limits: Limits, ...steps: Step[]): Promise<unknown> => ended(start(limits, steps));

/** An activity that is cancelled by a signal; ends by another signal. */
export async function cancels(limits: Limits, ...steps: Step[]): Promise<unknown> {
  const over = signalled(finish);
  const wanted = signalled(cancel);
  const scope = new workflow.CancellationScope();
  let result: unknown;
  workflow.setHandler(workflow.defineQuery<unknown>('result'), () => result ?? null);
  const call = scope
    .run(() => ended(start(limits, steps)))
    .then((value) => {
      result = value;
    });
  await wanted();
  scope.cancel();
  await over();
  await Promise.race([call, Promise.resolve()]);
  return result ?? 'not yet';
}

/** Two timers of which one is cancelled, and one of no time. */
export async function timers(): Promise<string[]> {
  const fired: string[] = [];
  const scope = new workflow.CancellationScope();
  const long = scope.run(() => workflow.sleep('1 hour')).catch((error) => fired.push(textOf(error)));
  await workflow.sleep(200);
  fired.push('short');
  scope.cancel();
  await long;
  if (!(await workflow.condition(() => false, 100))) fired.push('condition');
  // A timer that is cancelled by the task that makes it.
  const none = new workflow.CancellationScope();
  const never = none.run(() => workflow.sleep('1 hour')).catch(() => fired.push('never'));
  none.cancel();
  await never;
  return fired;
}

/** Notes of signals and updates until `finish`. */
export async function notes(first: string[] = []): Promise<string[]> {
  const all = [...first];
  let isReleased = false;
  workflow.setHandler(note, (text) => void all.push(text));
  workflow.setHandler(workflow.defineSignal('release'), () => {
    isReleased = true;
  });
  workflow.setHandler(workflow.defineQuery<string[], [string?]>('all'), (prefix = '') =>
    all.map((text) => `${prefix}${text}`),
  );
  workflow.setHandler(workflow.defineQuery<void>('broken'), () => {
    throw new Error('a broken query');
  });
  const add = async (text: string): Promise<number> => {
    if (text === 'fail') throw workflow.ApplicationFailure.nonRetryable('update failed', 'UpdateFailed');
    if (text === 'wait') await workflow.condition(() => isReleased);
    if (text === 'sleep') await workflow.sleep(100);
    return all.push(text);
  };
  workflow.setHandler(workflow.defineUpdate<number, [string]>('add'), add, {
    validator: (text) => {
      if (text === 'refuse') throw workflow.ApplicationFailure.create({ message: 'refused', type: 'Refused' });
      if (text === 'plain') throw new TypeError('refused plainly');
    },
  });
  await signalled(finish)();
  return all;
}

/** Fails with what it is given. */
export async function fails(message: string): Promise<never> {
  throw workflow.ApplicationFailure.create({ message, type: 'Failing', details: [{ some: 'details' }] });
}

/** Returns what it is given. */
export const echoes = async (...given: unknown[]): Promise<unknown[]> => given;

/** Cancelled while it sleeps: cleans up, if asked to, or goes on. */
export async function sleeps(then: 'cleans up' | 'rethrows' | 'goes on' | 'fails'): Promise<string> {
  try {
    await workflow.sleep('1 hour');
  } catch (error) {
    if (then === 'cleans up') await workflow.CancellationScope.nonCancellable(() => start({}, ['ok']));
    if (then === 'goes on') return `went on: ${workflow.isCancellation(error)}`;
    if (then === 'fails') throw workflow.ApplicationFailure.create({ message: 'failed instead' });
    throw error;
  }
  return 'slept';
}

/** Starts a child and says how it ended. */
export async function parent(
  options: workflow.ChildWorkflowOptions,
  type: string,
  ...args: unknown[]
): Promise<unknown> {
  return ended(workflow.executeChild(type, { ...options, args: args as never }));
}

/** Starts a child, and ends as asked as soon as it has begun. */
export async function leaves(
  options: workflow.ChildWorkflowOptions,
  how: 'completes' | 'goes on' | 'terminated' | 'at once',
): Promise<string> {
  const over = signalled(finish);
  const child = workflow.startChild('sleeps', { ...options, args: ['rethrows'] });
  if (how === 'at once') return 'without a child';
  await child;
  await over();
  if (how === 'goes on') await workflow.makeContinueAsNewFunc<typeof echoes>({ workflowType: 'echoes' })('went on');
  return 'left';
}

/** Starts a child and cancels it by a signal. */
export async function cancelsChild(options: workflow.ChildWorkflowOptions, then: string): Promise<unknown> {
  const wanted = signalled(cancel);
  const scope = new workflow.CancellationScope();
  const child = scope.run(() => ended(workflow.executeChild('sleeps', { ...options, args: [then] })));
  await wanted();
  scope.cancel();
  return child;
}

/** Goes on as new until it has `count` notes, then says how many runs it took. */
export async function rolls(count: number, kept: string[] = []): Promise<string[]> {
  const all = [...kept];
  workflow.setHandler(note, (text) => void all.push(text));
  const isFirst = workflow.workflowInfo().continuedFromExecutionRunId === undefined;
  await workflow.condition(() => all.length > kept.length || (isFirst && all.length > 0));
  if (all.length >= count) return all;
  return workflow.continueAsNew<typeof rolls>(count, all);
}

/** Goes on as new a number of times, with memo and attributes as they are. */
export async function counts(left: number): Promise<unknown> {
  const { memo, searchAttributes } = workflow.workflowInfo();
  if (left > 0) return workflow.continueAsNew<typeof counts>(left - 1);
  return { memo, searchAttributes };
}

/** Upserts attributes and memo by updates until `finish`. */
export async function attributes(): Promise<unknown> {
  workflow.setHandler(workflow.defineUpdate<void, [Record<string, never>]>('attributes'), (given) =>
    workflow.upsertSearchAttributes(given),
  );
  workflow.setHandler(workflow.defineUpdate<void, [Record<string, unknown>]>('memo'), (given) =>
    workflow.upsertMemo(given),
  );
  await signalled(finish)();
  const { memo, searchAttributes } = workflow.workflowInfo();
  return { memo, searchAttributes };
}

/** Code with a new patch, and one that is going out. */
export async function patches(): Promise<unknown> {
  workflow.deprecatePatch('old');
  const is = workflow.patched('new');
  await workflow.sleep(10);
  return [is, workflow.patched('new'), workflow.patched('later')];
}

/** Signals and cancels other workflows; says what came of it. */
export async function outward(...ids: string[]): Promise<unknown[]> {
  const results = [];
  for (const id of ids) {
    const handle = workflow.getExternalWorkflowHandle(id);
    results.push(await ended(handle.signal('note', 'from outside')), await ended(handle.cancel()));
  }
  return results;
}

/** A child that is signalled by its parent. */
export async function signalsChild(options: workflow.ChildWorkflowOptions): Promise<unknown> {
  const child = await workflow.startChild('notes', options);
  await child.signal('note', 'from the parent');
  await child.signal('finish');
  const result = await child.result();
  return [result, await ended(child.signal('note', 'too late'))];
}

/** An activity, notes, a timer, a child and another activity, one after the other: a life to reset. */
export async function life(childId: string, ...last: Step[]): Promise<unknown> {
  const seen: string[] = [];
  workflow.setHandler(note, (text) => void seen.push(text));
  workflow.setHandler(workflow.defineUpdate<number, [string]>('add'), (text) => seen.push(`update ${text}`));
  workflow.setHandler(workflow.defineQuery<string[]>('all'), () => seen);
  const over = signalled(finish);
  seen.push(JSON.stringify(await ended(start({}, ['ok']))));
  await workflow.condition(() => seen.includes('one'));
  await workflow.sleep(300);
  seen.push('slept');
  if (childId) seen.push(JSON.stringify(await ended(workflow.executeChild('notes', { workflowId: childId }))));
  if (last.length > 0) seen.push(JSON.stringify(await ended(start({}, last))));
  await over();
  return seen;
}

/** A timer or a child that are under way when it is reset; the signal `finish` ends it. */
export async function underWay(what: 'timer' | 'child' | 'activity', childId = ''): Promise<unknown> {
  const seen: string[] = [];
  workflow.setHandler(note, (text) => void seen.push(text));
  const running = {
    timer: () => workflow.sleep('5 seconds').then(() => 'slept'),
    child: () => ended(workflow.executeChild('notes', { workflowId: childId })),
    activity: () => ended(start({}, ['hang'])),
  }[what]();
  await workflow.condition(() => seen.length > 0);
  const result = await running;
  return { seen, result };
}

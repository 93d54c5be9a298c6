import {
  WithStartWorkflowOperation,
  type WorkflowHandle,
  type WorkflowUpdateOptions,
  WorkflowUpdateStage,
} from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import { type Lab, type Program, QUEUE } from './lab.js';
import { ended } from './texts.js';

const add = (handle: WorkflowHandle, text: string, options: Partial<WorkflowUpdateOptions> = {}) =>
  ended(handle.executeUpdate('add', { args: [text], ...options }));

const begin = (handle: WorkflowHandle, text: string, updateId: string) =>
  handle.startUpdate('add', { args: [text], updateId, waitForStage: WorkflowUpdateStage.ACCEPTED });

const simple: Program[] = [
  { name: 'a result', run: async (lab) => ended((await lab.start('echoes', [1, 'two', null])).result()) },
  { name: 'a failure', run: async (lab) => ended((await lab.start('fails', ['it failed'])).result()) },
  { name: 'timers', run: async (lab) => ended((await lab.start('timers', [])).result()) },
  { name: 'patches', run: async (lab) => ended((await lab.start('patches', [])).result()) },
  {
    name: 'calls on workflows that are not there',
    run: async (lab) => {
      const handle = lab.client.workflow.getHandle(lab.idOf('none'));
      return [
        await ended(handle.signal('note', 'x')),
        await ended(handle.query('all')),
        await add(handle, 'x'),
        await ended(handle.cancel()),
        await ended(handle.terminate()),
        await ended(handle.describe()),
        await ended(handle.fetchHistory()),
        await ended(handle.result()),
        await ended(handle.getUpdateHandle('u').result()),
      ];
    },
  },
  {
    name: 'calls on an ended run',
    run: async (lab) => {
      const handle = await lab.start('notes', [['first']]);
      await add(handle, 'done', { updateId: 'done' });
      await ended(begin(handle, 'wait', 'open'));
      await handle.signal('finish');
      const result = await ended(handle.result());
      return [
        result,
        await ended(handle.signal('note', 'x')),
        await ended(handle.query('all')),
        await ended(handle.query('all', 'with ')),
        await add(handle, 'x'),
        await add(handle, 'done', { updateId: 'done' }),
        await add(handle, 'open', { updateId: 'open' }),
        await ended(handle.getUpdateHandle('done').result()),
        await ended(handle.getUpdateHandle('open').result()),
        await ended(handle.getUpdateHandle('none').result()),
        await ended(handle.cancel()),
        await ended(handle.terminate('x')),
      ];
    },
  },
];

const signals: Program[] = [
  {
    name: 'signals',
    run: async (lab) => {
      const handle = await lab.start('notes', []);
      await handle.signal('note', 'one');
      await handle.signal('unknown', 'is kept');
      await handle.signal('note', 'two');
      await handle.signal('finish');
      return ended(handle.result());
    },
  },
  {
    name: 'signal with start',
    run: async (lab) => {
      const workflowId = lab.idOf('one');
      const call = (text: string, more: object = {}) =>
        lab.client.workflow.signalWithStart('notes', {
          ...{
            taskQueue: QUEUE,
            workflowId,
            signal: 'note',
            signalArgs: [text],
            args: [[`start of ${text}`]],
            ...more,
          },
        } as never);
      const first = await call('one');
      lab.watch(workflowId, first.signaledRunId);
      const same = (await call('two')).signaledRunId === first.signaledRunId;
      const refused = await ended(
        call('unused', { workflowIdReusePolicy: 'REJECT_DUPLICATE' }).then(() => 'signalled'),
      );
      await first.signal('finish');
      const result = await ended(first.result());
      const again = await ended(call('unused', { workflowIdReusePolicy: 'REJECT_DUPLICATE' }));
      const next = await call('three');
      lab.watch(workflowId, next.signaledRunId);
      await next.signal('finish');
      return [same, refused, result, again, await ended(next.result())];
    },
  },
  {
    name: 'signals to and cancels of missing, ended and open workflows',
    run: async (lab) => {
      const over = await lab.start('echoes', [], { id: 'over' });
      await over.result();
      const open = await lab.start('notes', [], { id: 'open' });
      const handle = await lab.start('outward', [lab.idOf('none'), lab.idOf('over'), lab.idOf('open')]);
      return [await ended(handle.result()), await ended(open.result())];
    },
  },
];

const updates: Program[] = [
  {
    name: 'updates accepted, refused and failed',
    run: async (lab) => {
      const handle = await lab.start('notes', []);
      const seen = [
        await add(handle, 'one'),
        await add(handle, 'refuse', { updateId: 'refused' }),
        await add(handle, 'plain'),
        await add(handle, 'fail', { updateId: 'failed' }),
        await add(handle, 'sleep'),
        await ended(handle.executeUpdate('unknown')),
        await ended(handle.getUpdateHandle('failed').result()),
        await ended(handle.getUpdateHandle('refused').result()),
      ];
      await handle.signal('finish');
      return [seen, await ended(handle.result())];
    },
  },
  {
    name: 'an update is repeated under its id',
    run: async (lab) => {
      const handle = await lab.start('notes', []);
      const first = await add(handle, 'one', { updateId: 'same' });
      const other = await add(handle, 'other', { updateId: 'same' });
      const refused = await add(handle, 'refuse', { updateId: 'again' });
      const accepted = await add(handle, 'two', { updateId: 'again' });
      await begin(handle, 'wait', 'waits');
      const waits = add(handle, 'wait', { updateId: 'waits' });
      await handle.signal('release');
      const seen = [first, other, refused, accepted, await waits];
      await handle.signal('finish');
      return [seen, await ended(handle.result())];
    },
  },
  {
    name: 'an update is open when its run ends',
    run: async (lab) => {
      const handle = await lab.start('notes', []);
      const update = await begin(handle, 'wait', 'waits');
      const result = ended(update.result());
      await handle.signal('finish');
      return [await result, await ended(handle.result())];
    },
  },
  {
    name: 'an update is open when its run is terminated',
    run: async (lab) => {
      const handle = await lab.start('notes', []);
      const update = await begin(handle, 'wait', 'waits');
      const result = ended(update.result());
      await handle.terminate('enough');
      return [await result, await ended(update.result()), await ended(handle.result())];
    },
  },
  {
    name: 'an update is open when its run goes on as new',
    run: async (lab) => {
      const handle = await lab.start('rolls', [1]);
      const seen = [await ended(handle.executeUpdate('add', { args: ['x'] }))];
      await handle.signal('note', 'one');
      return [seen, await ended(handle.result())];
    },
  },
  {
    name: 'update with start',
    run: async (lab) => {
      const call = async (text: string, conflict: 'FAIL' | 'USE_EXISTING') => {
        const startWorkflowOperation = new WithStartWorkflowOperation('notes', {
          ...{ taskQueue: QUEUE, workflowId: lab.idOf('one'), args: [['start']], workflowIdConflictPolicy: conflict },
        } as never);
        return ended(
          lab.client.workflow.executeUpdateWithStart('add', { args: [text], startWorkflowOperation } as never),
        );
      };
      const first = await call('one', 'FAIL');
      lab.watch(lab.idOf('one'));
      const seen = [first, await call('two', 'USE_EXISTING')];
      const handle = lab.client.workflow.getHandle(lab.idOf('one'));
      await handle.signal('finish');
      return [seen, await ended(handle.result())];
    },
  },
];

const queries: Program[] = [
  {
    name: 'queries',
    run: async (lab) => {
      const handle = await lab.start('notes', [['first']]);
      const seen = [
        await ended(handle.query('all')),
        await ended(handle.query('all', 'with ')),
        await ended(handle.query('broken')),
        await ended(handle.query('unknown')),
      ];
      await handle.terminate('enough');
      return [...seen, await ended(handle.query('all')), await ended(handle.query('broken'))];
    },
  },
];

/** A parent with a child of a type; the child's history is compared, too. */
const withChild = (
  name: string,
  type: string,
  args: unknown[],
  act?: (lab: Lab, child: WorkflowHandle) => Promise<unknown>,
): Program => ({
  name: `child: ${name}`,
  run: async (lab) => {
    const workflowId = lab.idOf('child');
    const handle = await lab.start('parent', [{ workflowId }, type, ...args]);
    await lab.seen(handle.workflowId, 'CHILD_WORKFLOW_EXECUTION_STARTED');
    const child = lab.client.workflow.getHandle(workflowId);
    await act?.(lab, child);
    const result = await ended(handle.result());
    lab.watch(workflowId);
    return result;
  },
});

/** A child whose parent leaves it, by its policy. */
const left = (parentClosePolicy: string, how: 'completes' | 'goes on' | 'terminated'): Program => ({
  name: `child: its parent ${how}, ${parentClosePolicy}`,
  run: async (lab) => {
    const workflowId = lab.idOf('child');
    const handle = await lab.start('leaves', [{ workflowId, parentClosePolicy }, how]);
    await lab.seen(handle.workflowId, 'CHILD_WORKFLOW_EXECUTION_STARTED');
    await lab.seen(workflowId, 'TIMER_STARTED');
    if (how === 'terminated') await handle.terminate('enough');
    else await handle.signal('finish');
    const result = await ended(handle.result());
    const child = lab.client.workflow.getHandle(workflowId);
    await lab.sleep(1_000);
    lab.watch(workflowId);
    if (parentClosePolicy === 'ABANDON') await child.cancel();
    return [result, await ended(child.result())];
  },
});

const children: Program[] = [
  withChild('completed', 'echoes', [1]),
  withChild('failed', 'fails', ['the child failed']),
  withChild('cancelled', 'sleeps', ['rethrows'], async (lab, child) => {
    await lab.seen(child.workflowId, 'TIMER_STARTED');
    await child.cancel();
  }),
  withChild('terminated', 'sleeps', ['rethrows'], async (lab, child) => {
    await lab.seen(child.workflowId, 'TIMER_STARTED');
    await child.terminate('enough');
  }),
  withChild('goes on as new', 'counts', [2]),
  ...(['completes', 'goes on', 'terminated'] as const).flatMap((how) =>
    ['ABANDON', 'TERMINATE', 'REQUEST_CANCEL'].map((policy) => left(policy, how)),
  ),
  {
    name: 'child: its parent closes at once',
    run: async (lab) => {
      const workflowId = lab.idOf('child');
      const handle = await lab.start('leaves', [{ workflowId, parentClosePolicy: 'ABANDON' }, 'at once']);
      const result = await ended(handle.result());
      await lab.sleep(1_000);
      return [
        result,
        await ended(
          lab.client.workflow
            .getHandle(workflowId)
            .describe()
            .then(() => 'is there'),
        ),
      ];
    },
  },
  ...(['open', 'closed'] as const).flatMap((state) =>
    ['ALLOW_DUPLICATE', 'REJECT_DUPLICATE', 'ALLOW_DUPLICATE_FAILED_ONLY'].map(
      (workflowIdReusePolicy): Program => ({
        name: `child: its id is taken by an ${state} run, ${workflowIdReusePolicy}`,
        run: async (lab) => {
          const other = await lab.start(state === 'open' ? 'notes' : 'echoes', [], { id: 'child' });
          if (state === 'closed') await other.result();
          const options = { workflowId: other.workflowId, workflowIdReusePolicy };
          return ended((await lab.start('parent', [options, 'echoes', 'of the child'])).result());
        },
      }),
    ),
  ),
  ...['rethrows', 'cleans up', 'goes on', 'fails'].map(
    (then): Program => ({
      name: `child: cancelled by its parent, ${then}`,
      isUnordered: true,
      run: async (lab) => {
        const workflowId = lab.idOf('child');
        const handle = await lab.start('cancelsChild', [{ workflowId }, then]);
        await lab.seen(handle.workflowId, 'CHILD_WORKFLOW_EXECUTION_STARTED');
        await lab.seen(workflowId, 'TIMER_STARTED');
        await handle.signal('cancel');
        lab.watch(workflowId);
        return ended(handle.result());
      },
    }),
  ),
  {
    name: 'child: signalled by its parent',
    isUnordered: true,
    run: async (lab) => {
      const workflowId = lab.idOf('child');
      const handle = await lab.start('signalsChild', [{ workflowId }]);
      const result = await ended(handle.result());
      lab.watch(workflowId);
      return result;
    },
  },
];

/** A sleeping workflow that somebody ends. */
const ending = (name: string, then: string, act: (handle: WorkflowHandle) => Promise<unknown>): Program => ({
  name,
  run: async (lab) => {
    const handle = await lab.start('sleeps', [then]);
    await lab.seen(handle.workflowId, 'TIMER_STARTED');
    const seen = await ended(act(handle));
    const { status } = await handle.describe();
    return [seen === undefined ? null : 'asked', await ended(handle.result()), status.name.length > 0];
  },
});

const endings: Program[] = [
  ...['rethrows', 'cleans up', 'goes on', 'fails'].map((then) =>
    ending(`cancelled, ${then}`, then, (handle) => handle.cancel()),
  ),
  ending('terminated', 'rethrows', (handle) => handle.terminate('for a reason')),
  ending('terminated without a reason', 'rethrows', (handle) => handle.terminate()),
  {
    name: 'cancelled twice',
    run: async (lab) => {
      const handle = await lab.start('notes', []);
      await handle.query('all');
      const asked = [await ended(handle.cancel()), await ended(handle.cancel())];
      return [asked.length, await ended(handle.result())];
    },
  },
];

const news: Program[] = [
  {
    name: 'continued as new',
    run: async (lab) => {
      const memo = { kept: ['memo'] };
      const searchAttributes = { PaymentReference: ['kept'] };
      const handle = await lab.start('counts', [2], { memo, searchAttributes } as never);
      const result = await ended(handle.result());
      lab.watch(handle.workflowId);
      return result;
    },
  },
  {
    name: 'continued as new while signals come',
    run: async (lab) => {
      const workflowId = lab.idOf('unwatched');
      const handle = await lab.client.workflow.start('rolls', { taskQueue: QUEUE, workflowId, args: [20] });
      const texts = Array.from({ length: 20 }, (_, n) => `note ${String(n).padStart(2, '0')}`);
      await Promise.all(texts.map((text) => lab.client.workflow.getHandle(workflowId).signal('note', text)));
      return ((await handle.result()) as string[]).toSorted();
    },
  },
];

/** Starts a workflow under an id that another one has or had. */
const taken = (name: string, before: 'open' | 'completed' | 'failed' | 'terminated', policies: object): Program => ({
  name: `id of ${name}`,
  run: async (lab) => {
    const handle = await lab.start(before === 'failed' ? 'fails' : before === 'completed' ? 'echoes' : 'notes', ['x']);
    if (before === 'terminated') await handle.terminate('enough');
    if (before !== 'open') await ended(handle.result());
    const second = await ended(
      lab.start('notes', [['second']], policies).then(async (started) => {
        const isSame = started.firstExecutionRunId === handle.firstExecutionRunId;
        await started.signal('finish');
        return [isSame ? 'the same run' : 'another run', await started.result()];
      }),
    );
    return [second, before === 'open' ? (await handle.describe()).status.name : null];
  },
});

const REUSES = ['ALLOW_DUPLICATE', 'ALLOW_DUPLICATE_FAILED_ONLY', 'REJECT_DUPLICATE'];
const ids: Program[] = [
  ...(['completed', 'failed', 'terminated'] as const).flatMap((before) =>
    REUSES.map((workflowIdReusePolicy) =>
      taken(`a ${before} run: ${workflowIdReusePolicy}`, before, { workflowIdReusePolicy }),
    ),
  ),
  ...['FAIL', 'USE_EXISTING', 'TERMINATE_EXISTING'].map((workflowIdConflictPolicy) =>
    taken(`an open run: ${workflowIdConflictPolicy}`, 'open', { workflowIdConflictPolicy }),
  ),
  taken('an open run: REJECT_DUPLICATE', 'open', { workflowIdReusePolicy: 'REJECT_DUPLICATE' }),
  taken('an open run: by default', 'open', {}),
  taken('a completed run: by default', 'completed', {}),
];

/** What a list shows of a workflow, and what a description does. */
const shown = async (lab: Lab, handle: WorkflowHandle): Promise<unknown> => {
  const { memo, searchAttributes } = await lab.client.workflow.getHandle(handle.workflowId).describe();
  const { BuildIds, ...given } = searchAttributes as Record<string, unknown>;
  return [Object.entries(memo ?? {}).sort(), Object.entries(given).sort()];
};

const lists: Program[] = [
  {
    name: 'attributes and memo',
    run: async (lab) => {
      const handle = await lab.start('attributes', [], {
        ...{ memo: { first: 1, gone: 2 } },
        searchAttributes: { PaymentReference: ['r'], PaymentAmount: ['1 usd'] },
      } as never);
      const seen = [await shown(lab, handle)];
      const call = async (name: string, given: object) => {
        seen.push(await ended(handle.executeUpdate(name, { args: [given] })), await shown(lab, handle));
      };
      await call('attributes', { PaymentReference: ['s'], PaymentNeedsAttention: [true] });
      await call('attributes', { PaymentReference: [], PaymentAttentionSince: [new Date(0).toISOString()] });
      await call('memo', { second: { a: [1, null] } });
      await call('memo', { first: null, gone: null });
      await handle.signal('finish');
      return [seen, await ended(handle.result())];
    },
  },
  {
    name: 'lists and counts',
    run: async (lab) => {
      const { workflow } = lab.client;
      const keys = { reference: defineSearchAttributeKey('PaymentReference', 'KEYWORD') };
      const amount = defineSearchAttributeKey('PaymentAmount', 'KEYWORD');
      const attention = defineSearchAttributeKey('PaymentNeedsAttention', 'BOOL');
      const attributes = (n: number) =>
        new TypedSearchAttributes([
          { key: keys.reference, value: 'listed' },
          ...(n > 1 ? [{ key: amount, value: `${n} usd` }] : []),
          ...(n > 2 ? [{ key: attention, value: true }] : []),
        ]);
      for (const n of [1, 2, 3, 4])
        await lab.start('notes', [], { id: `list ${n}`, typedSearchAttributes: attributes(n) } as never);
      await workflow.getHandle(lab.idOf('list 4')).signal('finish');
      await workflow.getHandle(lab.idOf('list 4')).result();
      await workflow.getHandle(lab.idOf('list 3')).terminate('enough');
      const all = "PaymentReference = 'listed'";
      await lab.until(async () => (await workflow.count(`${all} AND ExecutionStatus = 'Running'`)).count === 2);
      await lab.until(async () => (await workflow.count(all)).count === 4);
      const seen: unknown[] = [];
      for (const query of [
        "ExecutionStatus = 'Running'",
        "ExecutionStatus IN ('Terminated', 'Completed')",
        'PaymentNeedsAttention = true',
        'PaymentNeedsAttention = false',
        'PaymentNeedsAttention IS NULL',
        'PaymentAmount IS NOT NULL',
        "PaymentAmount STARTS_WITH '2'",
        "PaymentAmount IN ('2 usd', '3 usd')",
        "PaymentAmount > '2 usd'",
        "(PaymentAmount = '2 usd' OR PaymentNeedsAttention = true) AND WorkflowType = 'notes'",
        "StartTime > '2020-01-01T00:00:00Z'",
        "CloseTime > '2020-01-01T00:00:00Z'",
        'CloseTime IS NULL',
      ]) {
        const found = async () => {
          const names: string[] = [];
          for await (const { workflowId, status } of workflow.list({ query: `${all} AND ${query}`, pageSize: 2 }))
            names.push(`${workflowId} ${status.name}`);
          return [names, (await workflow.count(`${all} AND ${query}`)).count];
        };
        seen.push([query, await ended(found())]);
      }
      return seen;
    },
  },
];

/** Programs of runs, messages and children. */
export const runPrograms: Program[] = [
  ...simple,
  ...signals,
  ...updates,
  ...queries,
  ...children,
  ...endings,
  ...news,
  ...ids,
  ...lists,
];

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, test } from 'vitest';
import { HISTORIES_FOLDER, type RecordedHistory, readHistories, workflowTypeIn } from '../../scripts/replay/files.js';
import * as workflows from '../../src/workflows/index.js';
import { asReset } from '../support/as-reset.js';
import { newFolder } from '../support/batch-files.js';
import { quietWorkers, workflowBundle } from '../support/temporal.js';

let histories: RecordedHistory[];
beforeAll(async () => {
  quietWorkers();
  histories = await readHistories();
});

/** [workflow id, error] of every history that the present workflow code would not have written. */
async function replayErrors(recorded: RecordedHistory[]): Promise<[string, unknown][]> {
  const errors: [string, unknown][] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: workflowBundle() }, recorded)) {
    if (error) errors.push([workflowId, error]);
  }
  return errors;
}

describe('recorded histories', () => {
  test('are there, and every registered workflow type has one', () => {
    expect(histories.length).toBeGreaterThan(0);
    // `default` runs mistyped starts and ends them at once.
    const registered = Object.keys(workflows).filter((name) => name !== 'default');
    expect([...new Set(histories.map(workflowTypeIn))].sort()).toEqual(registered.sort());
  });

  test('stand by the version that wrote them, each scenario once, and 0.1.0 has its own', async () => {
    const files = (await readdir(HISTORIES_FOLDER, { recursive: true })).filter((file) => file.endsWith('.json'));
    expect(files.filter((file) => !/^(\d+\.\d+\.\d+|next)\/[\w-]+\.json$/.test(file))).toEqual([]);
    expect(files.filter((file) => file.startsWith('0.1.0/')).length).toBeGreaterThan(90);
    expect(histories).toHaveLength(files.length);
  });

  test('are replayed by the present workflow code without a difference', async () => {
    expect(await replayErrors(histories)).toEqual([]);
  });

  test('are replayed by a run that was cut from theirs by a reset, which knows less', async () => {
    expect(await replayErrors(histories.map(asReset))).toEqual([]);
  });

  test('carry no secret and nothing of the machine they were recorded on', () => {
    const text = JSON.stringify(histories).replace(/(?<="data":")[^"]*/g, (data) =>
      Buffer.from(data, 'base64').toString(),
    );
    expect(text).toContain('order_id');
    expect(text).not.toMatch(/sandbox-key|sandbox-secret|token-key|node_modules|\/src\/|\d+@\w/);
  });
});

describe('the gate can fail', () => {
  test('on a history in which another activity was scheduled', async () => {
    const [tampered] = (await readHistories()).filter((recorded) => workflowTypeIn(recorded) === 'withdraw');
    if (!tampered) throw new Error('no history');
    const scheduled = tampered.history.events?.find((event) => event.activityTaskScheduledEventAttributes);
    const { activityType } = scheduled?.activityTaskScheduledEventAttributes ?? {};
    if (!activityType) throw new Error('no activity');
    activityType.name = 'somethingElse';
    expect(await replayErrors([tampered])).toHaveLength(1);
  });

  test('on an empty folder', async () => {
    const folder = newFolder();
    expect(await readHistories(folder)).toEqual([]);
    expect(await readHistories(join(folder, 'missing'))).toEqual([]);
  });
});

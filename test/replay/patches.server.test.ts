import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { describe, expect, test } from 'vitest';
import { type RecordedHistory, readHistories } from '../../scripts/replay/files.js';
import { forcedBundle } from '../../scripts/replay/forced-bundle.js';
import { PATCHES } from '../../src/contract/patches.js';
import { createTestNamespace, quietWorkers, workflowBundle } from '../support/temporal.js';

const SAMPLE_PATCH = 'sleeps-twice';

/** True when some history cannot be replayed by that code. */
async function isRed(code: string, recorded: RecordedHistory[]): Promise<boolean> {
  quietWorkers();
  for await (const { error } of Worker.runReplayHistories({ workflowBundle: { code } }, recorded)) {
    if (error) return true;
  }
  return false;
}

/** Sides of a patch that no history stands on: forcing the patch the other way then replays all of them. */
async function missingSides(code: string, patch: string, recorded: RecordedHistory[]): Promise<string[]> {
  const before = await isRed(forcedBundle(code, patch, true), recorded);
  const since = await isRed(forcedBundle(code, patch, false), recorded);
  return [...(before ? [] : ['before']), ...(since ? [] : ['since'])];
}

test('every patch has a recorded history on each side', { timeout: 600_000 }, async () => {
  const code = await readFile(workflowBundle().codePath, 'utf8');
  const recorded = await readHistories();
  const sides = Object.keys(PATCHES).map(async (patch) => [patch, await missingSides(code, patch, recorded)]);
  expect(await Promise.all(sides)).toEqual(Object.keys(PATCHES).map((patch) => [patch, []]));
});

describe('the demand can fail', () => {
  test('where all histories are on one side of a patch', async () => {
    const [old, code] = [await bundle('before'), await bundle('since')];
    const [before, since] = [await historyOf(old), await historyOf(code)];
    expect(await isRed(code, [before, since])).toBe(false);
    expect(await missingSides(code, SAMPLE_PATCH, [before, since])).toEqual([]);
    expect(await missingSides(code, SAMPLE_PATCH, [before])).toEqual(['since']);
    expect(await missingSides(code, SAMPLE_PATCH, [since])).toEqual(['before']);
  });
});

async function bundle(version: 'before' | 'since'): Promise<string> {
  const workflowsPath = fileURLToPath(new URL(`sample/${version}.ts`, import.meta.url));
  return (await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') })).code;
}

/** What a real run of the sample leaves behind. */
async function historyOf(code: string): Promise<RecordedHistory> {
  const { client, nativeConnection: connection, namespace, close } = await createTestNamespace();
  try {
    const taskQueue = 'sample';
    const worker = await Worker.create({ connection, namespace, taskQueue, workflowBundle: { code } });
    const handle = await client.workflow.start('sample', { taskQueue, workflowId: 'sample' });
    await worker.runUntil(handle.result());
    return { workflowId: 'sample', history: await handle.fetchHistory() };
  } finally {
    await close();
  }
}

import type { MetricsBuffer } from '@temporalio/worker';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { SdkMetrics } from '../../src/worker/monitor.js';
import * as workflows from '../../src/workflows/index.js';

const failed = (workflowType: string) => ({
  metric: { name: 'temporal_workflow_task_execution_failed', kind: 'counter', description: 'failed', valueType: 'int' },
  attributes: { workflow_type: workflowType },
  value: 1,
});

/** What a scrape shows of these workflow types, whose tasks failed. */
function scraped(workflowTypes: readonly string[]): Promise<string> {
  const registry = new Registry();
  const updates = workflowTypes.map(failed).values();
  new SdkMetrics({ retrieveUpdates: () => updates } as unknown as MetricsBuffer, registry, new Map()).drain();
  return registry.metrics();
}

test('a workflow type that somebody made up is shown as other', async () => {
  const text = await scraped(['pay-4111111111111111', 'joe@example.com', 'withdraw']);
  expect(text).not.toMatch(/4111|joe/);
  expect(text).toContain('workflow_type="other"} 2');
  expect(text).toContain('workflow_type="withdraw"} 1');
});

test('any number of them hides none of ours', async () => {
  const invented = Array.from({ length: 600 }, (_, n) => `x${n}`);
  expect(await scraped([...invented, 'withdraw'])).toContain('workflow_type="withdraw"} 1');
});

test('each workflow type that a worker runs is shown by its name', async () => {
  const text = await scraped(Object.keys(workflows));
  for (const type of Object.keys(workflows)) expect(text).toContain(`workflow_type="${type}"} 1`);
});

import { randomUUID } from 'node:crypto';
import type { ConnectionLike } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { vi } from 'vitest';

/** Registers a namespace that has no search attributes yet, ready to use; returns its name. */
export async function createBareNamespace({ workflowService, operatorService }: ConnectionLike): Promise<string> {
  const namespace = `bare-${randomUUID()}`;
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('1 day') });
  // Until the server's caches know a new namespace it answers NOT_FOUND.
  await vi.waitFor(() => operatorService.listSearchAttributes({ namespace }), { timeout: 60_000 });
  return namespace;
}

/** `npm run dev`: the demo's stack, to stay: Temporal with its Web UI, sandbox, worker, receiver and API. Ctrl-C ends it. */
import { startStack } from './demo/stack.js';

const stack = await startStack().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return process.exit(1);
});
const { address, namespace, uiUrl } = stack.temporal;
process.stdout.write(`ready temporal=${address} namespace=${namespace} ui=${uiUrl ?? '-'} sandbox=${stack.sandbox.url} sandbox-admin=${stack.sandbox.adminUrl} receiver=${stack.receiverUrl} api=${stack.apiUrl} metrics=${stack.metricsUrls.join(',')} batches=${stack.batchDir}

Start an order from another terminal:
  TEMPORAL_ADDRESS=${address} npm run -s starter -- order start withdraw examples/withdraw.json --wait
Or look at the API: ${stack.apiUrl}/docs
Ctrl-C stops everything.
`);
const stopped = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
});
try {
  await Promise.race([stopped, stack.failed]);
} catch (error) {
  process.stderr.write(
    `${error instanceof Error ? error.message : String(error)}\nEverything is stopped: start again\n`,
  );
  process.exitCode = 1;
} finally {
  await stack.stop();
}

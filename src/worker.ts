#!/usr/bin/env node
import { loadWorkerConfig } from './config.js';
import { exitOnFailure, refuseArguments, sayReady, untilStopped } from './process.js';
import { startWorker } from './worker/start-worker.js';

refuseArguments('payment-orders-worker', 'Follows payment orders and makes the signed calls to the payment service.');

/** The worker process: runs order workflows and the signed calls to the payment service. */
await exitOnFailure(async () => {
  const config = loadWorkerConfig();
  const worker = await startWorker(config);
  const stopped = untilStopped(worker.stop, worker.run);
  // A caller that waits for `ready` relies on these settings in every worker.
  const isUp = await Promise.race([worker.noticed().then(() => true), stopped.then(() => false)]);
  if (isUp) sayReady(`worker ${worker.description}`, config.allowed, worker.findings);
  await stopped;
});

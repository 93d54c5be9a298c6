#!/usr/bin/env node
import { PaymentOrders } from './client.js';
import { runStarter } from './starter/program.js';

// The reader may stop early (`… | head`), which needs no stack trace.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

process.exitCode = await runStarter(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  connect: () => PaymentOrders.connect(),
  // Suggested command lines should work as they stand, from a checkout and from an installed package.
  self: process.argv[1]?.endsWith('.ts') ? 'npm run -s starter --' : 'payment-orders',
});

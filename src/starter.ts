#!/usr/bin/env node
import { PaymentOrders } from './client.js';
import { print } from './print.js';
import { runStarter } from './starter/program.js';

// Whoever reads may have seen enough (`… | head`): no reason for a stack trace.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

/** Exit codes of commands that a signal ended, as shells count them. */
const STOPPED_BY = { SIGINT: 130, SIGTERM: 143 } as const;
/** A spinner hides the cursor, and a bar switches the wrapping of lines off. */
const AS_BEFORE = '\u001B[?25h\u001B[?7h\n';

const ifStopped: { says?: string | undefined } = {};
for (const [signal, exitCode] of Object.entries(STOPPED_BY)) {
  process.once(signal, () => {
    if (process.stderr.isTTY) process.stderr.write(AS_BEFORE);
    print(process.stderr, ifStopped.says ? `${ifStopped.says}\n` : '', () => process.exit(exitCode));
  });
}

process.exitCode = await runStarter(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  connect: () => PaymentOrders.connect(),
  ifStopped,
  // Suggested command lines should work as they stand, from a checkout and from an installed package.
  self: process.argv[1]?.endsWith('.ts') ? 'npm run -s starter --' : 'payment-orders',
});

#!/usr/bin/env node
/** `npm run dev` and `payment-orders-dev`: the demo's stack, to stay. Ctrl-C ends it. */
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { startStack } from './demo/stack.js';
import { IS_CHECKOUT, programOf } from './temporal/program-of.js';

const HELP = `payment-orders-dev: everything on this machine, to develop against. It moves no money.

Starts Temporal with its Web UI, the sandbox (a double of the payment service), a worker, a receiver and the API.
It prints a line \`ready …\` with their addresses. Ctrl-C ends all of them.

Temporal    the server at TEMPORAL_ADDRESS, by the other TEMPORAL_* variables (namespace, TLS, API key). Search attributes
            that its namespace lacks are created. Without TEMPORAL_ADDRESS, one is started with \`temporal\` on
            PATH (server 1.30.4 or newer), with a download of it, or with one built by Go (5 to 10 minutes, once)
Data        .demo in this folder keeps orders for the next start. Delete the folder to begin from nothing
Limits      PAYMENT_ORDER_CAPS, such as usd=100: an order above it waits for a person
`;

/** Returns the message of an error, without its stack. */
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Says why nothing runs, and ends. */
function giveUp(exitCode: number, error: unknown): never {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(exitCode);
}

function isHelp(): boolean {
  try {
    return parseArgs({ options: { help: { type: 'boolean', short: 'h', default: false } } }).values.help;
  } catch (error) {
    return giveUp(2, error);
  }
}

if (isHelp()) {
  process.stdout.write(HELP);
  process.exit(0);
}
// npm repeats a Ctrl-C that its command also gets, so every signal is handled, not only the first.
const stopped = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
});
const started = await Promise.race([startStack().catch((error: unknown) => giveUp(1, error)), stopped]);
// What has started by then ends with this process.
const stack = started ?? process.exit(130);
const { address, namespace, uiUrl, embedded } = stack.temporal;
const starter = IS_CHECKOUT ? 'npm run -s starter --' : 'npx payment-orders';
const [program = ''] = programOf('src/starter.ts').slice(-1);
const example = relative('', join(dirname(program), '..', 'examples', 'withdraw.json'));
process.stdout.write(`ready temporal=${address} namespace=${namespace} ui=${uiUrl ?? '-'} sandbox=${stack.sandbox.url} sandbox-admin=${stack.sandbox.adminUrl} receiver=${stack.receiverUrl} api=${stack.apiUrl} metrics=${stack.metricsUrls.join(',')} batches=${stack.batchDir}

Start an order from another terminal${embedded ? '' : ', with the TEMPORAL_* variables of this one'}:
  TEMPORAL_ADDRESS=${address} ${starter} order start withdraw ${example} --wait
Or look at the API: ${stack.apiUrl}/docs
Ctrl-C stops everything.
`);
try {
  await Promise.race([stopped, stack.failed]);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\nEverything is stopped: start again\n`);
  process.exitCode = 1;
} finally {
  await stack.stop();
}

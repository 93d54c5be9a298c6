#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { readEnvironment } from './env.js';
import { PLACES } from './fault-types.js';
import { FAULTS } from './faults.js';
import { startSandbox } from './index.js';

/** Breaks a list of words into lines of the help. */
const lines = (words: readonly string[]): string => words.join(' ').replace(/(.{60,90}) /g, '$1\n             ');

const HELP = `payment-orders-sandbox: a double of the payment service on 127.0.0.1. It moves no money.

  --fault <place>.<fault>=<share>   this fault at a share of the requests, such as create.500-after=0.2; may be repeated
  --help

Places       ${lines(PLACES)}
Faults       ${lines(FAULTS.map(({ name }) => name))}
             At creates also with -before, -after or -later: when the create is executed
Environment  SANDBOX_PORT (4010), SANDBOX_ADMIN_PORT (4011), SANDBOX_API_KEY (sandbox-key), SANDBOX_API_SECRET
             (sandbox-secret), SANDBOX_SIGNER (hmac-sha256), SANDBOX_DATA_DIR, SANDBOX_TIME_SCALE, SANDBOX_SEED
While it runs, PUT /settings at the admin port changes faults, and a marker in an order's description sets its fate.
`;

/** Returns the shares of faults in options such as `create.500-after=0.2`. Throws for anything else. */
function faultShares(options: readonly string[]): Record<string, number> {
  const entries = options.map((option) => /^([^=]+)=(.+)$/.exec(option)?.slice(1) ?? [option]);
  const wrong = entries.find(([, share]) => !(Number(share) >= 0 && Number(share) <= 1));
  if (wrong) throw new RangeError(`--fault ${wrong[0]}: needs a share from 0 to 1, such as create.500-after=0.2`);
  return Object.fromEntries(entries.map(([fault, share]) => [fault, Number(share)]));
}

/** The sandbox as a process: one line `ready …` on stdout, ends on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { fault: { type: 'string', multiple: true, default: [] }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return void process.stdout.write(HELP);
  const options = readEnvironment(process.env);
  if ('mistakes' in options) {
    for (const mistake of options.mistakes) process.stderr.write(`${mistake}\n`);
    process.exitCode = 2;
    return;
  }
  const sandbox = await startSandbox({ ...options, settings: { faults: faultShares(values.fault) } });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void sandbox.close());
  process.stdout.write(`ready service=${sandbox.url} admin=${sandbox.adminUrl}\n`);
  process.stderr.write(`
A worker reaches it by PAYMENT_BASE_URL=${sandbox.url} PAYMENT_SIGNER=${options.signer}, with
PAYMENT_API_KEY as SANDBOX_API_KEY (or sandbox-key) and PAYMENT_API_SECRET as SANDBOX_API_SECRET (or sandbox-secret)
`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : 'the sandbox failed'}\n`);
  const isUsage = error instanceof RangeError || (error instanceof TypeError && 'code' in error);
  process.exitCode = isUsage ? 2 : 1;
});

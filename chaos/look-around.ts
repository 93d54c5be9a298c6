import { appendFile } from 'node:fs/promises';
import { execa } from 'execa';
import type { Load } from './load.js';
import type { ChaosStack } from './stack.js';

/** Orders that are shown. */
const SHOWN = 5;
/** Commands under way at once. */
const AT_ONCE = 3;

/**
 * Has people and pages look at orders, rightly and wrongly, so that what the command line and the codec print and log is there
 * to be searched. Refused commands are as welcome as others.
 */
export async function lookAround(stack: ChaosStack, load: Load, batchId: string): Promise<void> {
  const ids = load.planned.slice(0, SHOWN).map(({ orderId }) => orderId);
  const shown = ids.flatMap((id) => [
    ['order', 'show', id],
    ['order', 'show', id, '--json'],
  ]);
  const [first] = load.planned;
  const wrong = first && {
    ...first.input,
    order: { ...first.input.order, order_id: 'other', amount: '0', unknown: 1 },
  };
  const commands: { args: string[]; input?: string }[] = [
    ...shown.map((args) => ({ args })),
    ...[
      ['order', 'list'],
      ['order', 'list', '--json'],
      ['order', 'list', '--attention'],
    ].map((args) => ({ args })),
    ...[['reconcile'], ['batch', 'show', batchId]].map((args) => ({ args })),
    // Every mistake of an input is told by its field.
    { args: ['order', 'start', first?.type ?? 'withdraw', '-'], input: JSON.stringify(wrong) },
    { args: ['order', 'start', 'withdraw', '-'], input: JSON.stringify(first?.input).slice(0, -9) },
  ];
  const runNext = async (): Promise<void> => {
    for (let next = commands.shift(); next; next = commands.shift()) await runStarter(stack, next.args, next.input);
  };
  await Promise.all([...Array.from({ length: AT_ONCE }, runNext), askCodec(stack, first?.orderId ?? '')]);
}

/** Keeps all that a command prints, whatever its exit code. */
async function runStarter({ starter }: ChaosStack, args: string[], input = ''): Promise<void> {
  const { script, env, logFile } = starter;
  const options = { env, extendEnv: false, input, reject: false, all: true, timeout: 60_000 } as const;
  const { all } = await execa(process.execPath, [script, ...args], options);
  await appendFile(logFile, `> ${args.join(' ')}\n${all}\n`);
}

/** A payload that is no ciphertext of ours, a body that is none, and a page that does not exist. */
async function askCodec({ codecUrl, secrets }: ChaosStack, orderId: string): Promise<void> {
  const bodies = [
    JSON.stringify({ payloads: [{ metadata: { encoding: 'YmluYXJ5L2VuY3J5cHRlZA==' }, data: 'AAAA' }] }),
    `{"payloads": "${orderId}"`,
  ];
  for (const body of bodies) {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${secrets.codecToken}` };
    await fetch(`${codecUrl}/decode`, { method: 'POST', headers, body }).catch(() => undefined);
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { callbackUrl } from '../../src/contract/callback-url.js';
import { orderWorkflowId } from '../../src/contract/names.js';
import type { AttackName, Target } from './attacks.js';
import { type Figures, genuineCallbacks } from './genuine.js';

/** Key of the callbacks of a siege. */
export const TOKEN_KEY = 'token-key-of-the-attacked-receiver';

/** Genuine callbacks are sent to that many orders in turn: no order gets more than the receiver allows. */
const ORDERS = 30;
/** An attack is at its height when the first genuine callback is sent. */
const LEAD_SECONDS = 3;

/** An attack on a receiver, directly or through the proxy. */
export interface Siege {
  name: AttackName;
  /** Where both callbacks and attack go: of the receiver, or of the proxy before it. */
  url: string;
  receiverPid: number;
  seconds: number;
  perSecond: number;
}

/** What it came to. */
export interface Outcome extends Figures {
  /** Sockets that the attacker opened. */
  opened: number;
  /** Most memory that the receiver had at any time of its life. */
  peakRssMiB: number;
}

/** Open orders, which take signals and need no worker for that; answers their callback URLs. */
async function openOrders(client: Client, url: string) {
  const prefix = `siege-${Date.now()}`;
  return Promise.all(
    Array.from({ length: ORDERS }, async (_, n) => {
      const orderId = `${prefix}-${n}`;
      const workflowId = orderWorkflowId('default', orderId);
      await client.workflow.start('withdraw', { workflowId, taskQueue: 'nobody', args: [] });
      return { orderId, url: callbackUrl(url, TOKEN_KEY, { kind: 'order', account: 'default', orderId }) };
    }),
  );
}

const pathOf = (url: string): string => new URL(url).pathname;

/** Attacks a receiver while genuine callbacks come at a steady pace. `client`: of the receiver's namespace. */
export async function besiege(client: Client, { name, url, receiverPid, seconds, perSecond }: Siege): Promise<Outcome> {
  const orders = await openOrders(client, url);
  const { port, protocol } = new URL(url);
  const target: Target = {
    port: Number(port),
    tls: protocol === 'https:',
    leakedPath: pathOf(callbackUrl(url, TOKEN_KEY, { kind: 'order', account: 'default', orderId: 'leaked' })),
    leakedAddressPath: pathOf(callbackUrl(url, TOKEN_KEY, { kind: 'address', account: 'default', ref: 'leaked' })),
  };
  const attacker = startAttacker(name, target, LEAD_SECONDS + seconds);
  await sleep(LEAD_SECONDS * 1_000);
  const figures = await genuineCallbacks(orders, { perSecond, seconds });
  const opened = await attacker;
  return { ...figures, opened, peakRssMiB: await peakRssMiB(receiverPid) };
}

/** The attacker in a process of its own, which ends by itself; the number of sockets that it opened. */
async function startAttacker(name: AttackName, target: Target, seconds: number): Promise<number> {
  const program = fileURLToPath(new URL('./attacker.ts', import.meta.url));
  const args = ['--import', 'tsx', program, name, JSON.stringify(target), `${seconds}`];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`the attacker ended with ${code}`);
  return Number(said);
}

/** Most resident memory of a process so far, as Linux keeps it. */
async function peakRssMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import { startBatch } from '../../src/client/batch/start-batch.js';
import { type AccountConfig, Secret } from '../../src/config.js';
import type { AttentionCode } from '../../src/contract/attention.js';
import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import type { Installation } from '../replay/installation.js';
import { input } from '../replay/scenarios.js';
import { serviceOf } from '../service-of.js';

/** An installation with three accounts more, each with a service of its own, so that one can fail and the rest goes on. */
export interface StuckPlace extends Installation {
  batchDir: string;
  /** Service of the account `eu`, which goes down. */
  eu: Sandbox;
  /** Service of the account `us`, which refuses the key. */
  us: Sandbox;
  /** Service of the account `gb`, whose balance is short. */
  gb: Sandbox;
}

/** One way to be stuck. */
export interface Stuck {
  name: string;
  /** Under what lists find it. */
  code: AttentionCode;
  /** Brings it about by a fault of the sandbox, and returns the workflow's id; it is stuck some seconds later. */
  start(place: StuckPlace): Promise<string>;
  /** What a person who reads its page does: a decision that stands there to be pasted, or what to mend. */
  way: { update: string; choice: string } | { mend(place: StuckPlace): Promise<unknown> };
}

const KEY_REFUSED = Object.fromEntries(['create', 'status', 'list', 'balances'].map((place) => [`${place}.401`, 1]));

/** Starts the workers of the three accounts beside the one that the installation has. */
export async function openStuckPlace(installation: Installation, batchDir: string): Promise<StuckPlace> {
  const keys = ['key-of-eu', 'key-of-us', 'key-of-gb'] as const;
  const [eu, us, gb] = await Promise.all(keys.map((apiKey) => startSandbox({ apiKey })));
  if (!eu || !us || !gb) throw new Error('a sandbox is missing');
  gb.set({ balances: { usd: '100' } });
  await installation.serve([accountOf('eu', eu), accountOf('us', us), accountOf('gb', gb)]);
  const close = async (): Promise<void> => {
    await installation.close();
    await Promise.all([eu, us, gb].map((sandbox) => sandbox.close()));
  };
  return { ...installation, batchDir, eu, us, gb, close };
}

export function accountOf(name: string, { url, apiKey, apiSecret }: Sandbox): AccountConfig {
  const keys = { apiKey: new Secret(apiKey), apiSecret: new Secret(apiSecret) };
  return { name, baseUrl: url, ...keys, signer: 'hmac-sha256' };
}

type Steered = Partial<OrderInput> & { marker?: string; amount?: string; about?: string; delay?: number };

/** What callers say of their orders, and a page shows. */
const STARTER = { metadata: { startedBy: 'ann' } };

export async function startOrder(
  { orders }: StuckPlace,
  orderId: string,
  { marker, amount, about, delay, ...options }: Steered,
) {
  const asked = input('withdraw', orderId, marker, { ...STARTER, ...options });
  const description = [about, marker && `[sandbox ${marker}]`].filter(Boolean).join(' ');
  const more = {
    ...(amount && { amount }),
    ...(description && { description }),
    ...(delay && { delay_order_for_minutes: delay }),
  };
  return orders.start('withdraw', { ...asked, order: { ...asked.order, ...more } } as OrderInput<'withdraw'>);
}

/** Resolves once the create of an order has reached its service. */
async function untilSent({ requests }: Sandbox, asked: string): Promise<void> {
  while (!requests().some(({ path, orderId }) => path.endsWith('/withdraw') && orderId === asked)) await sleep(20);
}

/** A create that failed unexecuted, and meanwhile somebody else's order under its id. */
async function startBesideForeign(place: StuckPlace): Promise<string> {
  const orderId = 'salary-2026-11-042';
  const { workflowId } = await startOrder(place, orderId, { marker: 'create=500-before duplicate=c' });
  await untilSent(place.sandbox, orderId);
  const service = await serviceOf(place.sandbox);
  const ours = input('withdraw', orderId).order as OrderInput<'withdraw'>['order'];
  await service.createOrder('withdraw', { ...ours, amount: '99.00' });
  return workflowId;
}

/** A service that executes a create, answers it with a 500, and is down from then on. */
async function startThenDown(place: StuckPlace): Promise<string> {
  const orderId = 'invoice-7731';
  const { workflowId } = await startOrder(place, orderId, { account: 'eu', marker: 'create=500-after' });
  await untilSent(place.eu, orderId);
  place.eu.set({ serverDown: true });
  return workflowId;
}

async function startRefused(place: StuckPlace): Promise<string> {
  place.us.set({ faults: KEY_REFUSED });
  return (await startOrder(place, 'supplier-0388', { account: 'us' })).workflowId;
}

const PAYROLL = `order_id,currency,network,amount,wallet
payroll-2026-11-1,usd,card,1850.00,4111111111111111
payroll-2026-11-2,usd,card,2140.50,5555555555554444
payroll-2026-11-3,usd,card,1990.25,4012888888881881
`;

async function startPayroll({ client, batchDir }: StuckPlace): Promise<string> {
  await writeFile(join(batchDir, 'payroll-2026-11.csv'), PAYROLL);
  const file = { path: 'payroll-2026-11.csv' };
  const batch = { batchId: 'payroll-2026-11', startedBy: 'ann', approval: 'required' } as const;
  return (await startBatch(client, { ...batch, file })).workflowId;
}

/** A batch without an approval, which the balance does not cover. */
async function startShort({ client, batchDir }: StuckPlace): Promise<string> {
  await writeFile(join(batchDir, 'bonus-2026-11.csv'), PAYROLL.replaceAll('payroll', 'bonus'));
  const file = { path: 'bonus-2026-11.csv' };
  return (await startBatch(client, { batchId: 'bonus-2026-11', account: 'gb', startedBy: 'ann', file })).workflowId;
}

/** An order that waits for funds, and is held meanwhile. */
async function startHeld(place: StuckPlace): Promise<string> {
  const about = { whenShort: 'wait', about: 'Invoice 5512', reference: 'inv/5512' } as const;
  const handle = await startOrder(place, 'invoice-5512', { account: 'gb', amount: '900', ...about });
  const untilMs = Date.now() + 180_000;
  while (!(await handle.state()).waitingFor.includes('missing')) {
    if (Date.now() > untilMs) throw new Error(`${handle.orderId} does not wait for funds`);
    await sleep(100);
  }
  await handle.hold({ by: 'kim', reason: 'the invoice is disputed' });
  return handle.workflowId;
}

export const started =
  (orderId: string, steered: Steered) =>
  async (place: StuckPlace): Promise<string> =>
    (await startOrder(place, orderId, steered)).workflowId;

/** Settings of the worker: a cap and a policy that orders are above. */
export async function stuckEnv(folder: string): Promise<Record<string, string>> {
  const path = join(folder, 'policy.json');
  const rules = [{ rule: 'tier', currency: 'usd', above: '3000', approvers: 1 }];
  await writeFile(path, JSON.stringify({ accounts: { default: rules } }), { mode: 0o600 });
  return { BATCH_DIR: folder, PAYMENT_ORDER_CAPS: '{"usd": "5000"}', POLICY_FILE: path };
}

/** Every way to be stuck that the operator's page shows. */
export const STUCK: readonly Stuck[] = [
  {
    name: 'uncertain',
    code: 'uncertain-create',
    start: started('refund-2026-117', {
      ...{ marker: 'create=500-before', resend: 'never', about: 'Refund of order 4711', reference: 'order/4711' },
    }),
    way: { update: 'decide', choice: 'resend' },
  },
  {
    name: 'conflict',
    code: 'conflict',
    start: startBesideForeign,
    way: { update: 'decide', choice: 'close-absent' },
  },
  {
    name: 'partial',
    code: 'remainder',
    start: started('bonus-2026-031', {
      ...{ marker: 'outcome=completed_partially fraction=0.4', compensation: 'ask', about: 'Bonus of October' },
    }),
    way: { update: 'decide', choice: 'finish' },
  },
  {
    name: 'over-cap',
    code: 'over-cap',
    start: started('refund-2026-118', { amount: '12500', about: 'Refund of order 4712' }),
    way: { update: 'decide', choice: 'approve' },
  },
  {
    name: 'policy',
    code: 'policy',
    start: started('invoice-7740', { amount: '4200', about: 'Invoice 7740 of November', reference: 'inv/7740' }),
    way: { update: 'decide', choice: 'approve' },
  },
  {
    name: 'held',
    code: 'held',
    start: startHeld,
    way: { update: 'decide', choice: 'refuse' },
  },
  {
    name: 'short-of-funds',
    code: 'short-of-funds',
    start: started('invoice-5513', { account: 'gb', amount: '450', whenShort: 'ask', about: 'Invoice 5513' }),
    way: { update: 'decide', choice: 'refuse' },
  },
  {
    name: 'batch-paused',
    code: 'batch-paused',
    start: startShort,
    way: { update: 'stop', choice: 'stop' },
  },
  {
    name: 'service-down',
    code: 'service-down',
    start: startThenDown,
    way: { mend: async ({ eu }) => eu.set({ serverDown: false }) },
  },
  {
    name: 'wrong-key',
    code: 'key-refused',
    start: startRefused,
    way: { mend: async ({ us }) => us.set({ faults: {} }) },
  },
  {
    name: 'unserved',
    code: 'account-not-served',
    start: started('payout-apac-5', { account: 'apac' }),
    way: { mend: ({ serve, sandbox }) => serve([accountOf('apac', sandbox)]) },
  },
  {
    name: 'approval',
    code: 'approval',
    start: startPayroll,
    way: { update: 'approve', choice: 'approve' },
  },
];

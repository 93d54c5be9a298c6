import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../../sandbox/index.js';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { addressWorkflowId } from '../../src/contract/names.js';
import type { OrderInput, RevertTarget } from '../../src/contract/order/input-and-result.js';
import type { Decision } from '../../src/contract/order/messages.js';
import type { OrderType } from '../../src/contract/order/types.js';
import type { Order } from '../../src/contract/service-objects.js';
import { serviceOf } from '../service-of.js';
import type { Installation } from './installation.js';
import { amongOthers, input, PARTIAL, type Scenario } from './scenarios.js';

type Choice = Pick<Decision, 'action' | 'kind' | 'as' | 'revertTo' | 'wallet_details' | 'order_uuid' | 'differences'>;

const REVERT_TO: RevertTarget = { network: 'card', wallet: '5555555555554444' };
const SEVERAL_CARDS = {
  network: 'multiple_cards',
  wallet: 'several',
  wallet_details: [
    { amount: '7.25', wallet: '4111111111111111' },
    { amount: '5.25', wallet: '5555555555554444' },
  ],
};

/** Decides when the order is parked for a reason that contains the text. */
async function decide(handle: OrderHandle, text: string, choice: Choice): Promise<void> {
  for (;;) {
    const { phase, revision, attention } = await handle.state();
    if (phase === 'parked' && attention?.reason.includes(text))
      return void (await handle.decide({ by: 'operator', reason: 'recorded', revision, ...choice }));
    await sleep(100);
  }
}

type Compensated = {
  type: OrderType;
  left?: string;
  options?: Partial<OrderInput>;
  order?: object;
  /** What is decided, each after a text in the reason for waiting; `<id>` stands for the order's id. */
  decisions?: [text: string, choice: Choice][];
};

/** A partial order whose remainder is moved by policy or by decision. */
const compensated = (name: string, { type, left, options, order, decisions = [] }: Compensated): Scenario => ({
  name,
  run: async ({ orders }) => {
    const template = input(type, name, `${PARTIAL}${left ? ` left=${left}` : ''}`, options);
    const steered = { ...template, order: { ...template.order, ...order } } as OrderInput;
    const handle = await orders.start(type, steered);
    for (const [text, choice] of decisions) await decide(handle, text.replace('<id>', name), choice);
    await handle.result();
    return handle.workflowId;
  },
});

/** An order under the id of ours, created past our workflows; with another amount it is somebody else's. */
async function createElsewhere({ sandbox }: Installation, order: object): Promise<Order> {
  const service = await serviceOf(sandbox);
  return service.createOrder('withdraw', order as OrderInput<'withdraw'>['order']);
}

const isSent = (sandbox: Sandbox, name: string): boolean =>
  sandbox.requests().some(({ path, orderId }) => path === '/v2/order/withdraw' && orderId === name);

/** Our create was not executed and answered with 500, and meanwhile its id came to belong to other orders. */
const conflicting = (name: string, how: 'adopted' | 'adopted in spite of its amount' | 'closed'): Scenario => ({
  name,
  run: async (installation) => {
    const ours = input('withdraw', name, 'create=500-before duplicate=c');
    const handle = await installation.orders.start('withdraw', ours);
    while (!isSent(installation.sandbox, name)) await sleep(50);
    const foreign = await createElsewhere(installation, { ...ours.order, amount: '99' });
    if (how === 'adopted') {
      const { order_uuid } = await createElsewhere(installation, ours.order);
      await decide(handle, order_uuid, { action: 'adopt', order_uuid });
    } else if (how === 'closed') {
      await decide(handle, foreign.order_uuid, { action: 'close-absent' });
    } else {
      const { order_uuid } = foreign;
      await decide(handle, order_uuid, { action: 'adopt', order_uuid, differences: ['amount'] });
    }
    await handle.result().catch(() => undefined);
    return handle.workflowId;
  },
});

/** A delayed order whose time passes while a person is asked about its uncertain create, which is then decided. */
const lateWhileAsked = (name: string): Scenario => ({
  name,
  run: async ({ orders }) => {
    const uncertain = input('withdraw', name, 'create=500-before', { resend: 'never' });
    const startedAtMs = Date.now();
    const order = { ...uncertain.order, delay_order_for_minutes: 1 };
    const handle = await orders.start('withdraw', { ...uncertain, order } as OrderInput<'withdraw'>);
    while ((await handle.state()).phase !== 'parked') await sleep(100);
    await sleep(startedAtMs + 65_000 - Date.now());
    await decide(handle, '', { action: 'resend' });
    await decide(handle, 'has passed', { action: 'resend' });
    await handle.result();
    return handle.workflowId;
  },
});

/** Refused, and started again: the second run looks for what the first may have sent before it sends. */
const startedAgain = (name: string): Scenario => ({
  name,
  run: async ({ orders }) => {
    const refused = await orders.start('withdraw', input('withdraw', name, 'create=400'));
    await refused.result().catch(() => undefined);
    const handle = await orders.start('withdraw', input('withdraw', name), { again: true });
    await handle.result();
    return handle.workflowId;
  },
});

/** A partial order that was cancelled while it was followed: its policy sends nothing any more, a person does. */
const cancelledPartial = (name: string): Scenario => ({
  name,
  run: async ({ orders, client }) => {
    const handle = await orders.start('withdraw', input('withdraw', name, PARTIAL, { compensation: 'finish' }));
    await handle.created();
    await client.workflow.getHandle(handle.workflowId).cancel();
    await decide(handle, 'cancelled before the follow-up', { action: 'finish' });
    await handle.result();
    return handle.workflowId;
  },
});

/** The service pays the rest while a person is asked, and calls back; then the end is accepted. */
const changedWhileAsked = (name: string): Scenario => ({
  name,
  run: async ({ orders, sandbox }) => {
    const asked = input('withdraw', name, `callback=drop ${PARTIAL}`, { compensation: 'ask' });
    const handle = await orders.start('withdraw', asked);
    while ((await handle.state()).phase !== 'parked') await sleep(100);
    const { order } = await handle.state();
    sandbox.turnOrder(order?.order_uuid ?? '', 'completed');
    await sandbox.sendCallback(order?.order_uuid ?? '');
    await decide(handle, 'now reads completed', { action: 'accept' });
    await handle.result();
    return handle.workflowId;
  },
});

/** The create of an address is executed and answered with 502: it is found by its callback URL. */
const uncertainAddress = (name: string): Scenario => ({
  name,
  alone: true,
  run: async ({ orders, sandbox }) => {
    sandbox.set({ faults: { 'address-create.502-after': 1 } });
    await orders.createAddress({ ref: name, address: { currency: 'usdt', network: 'tron' } });
    sandbox.set({ faults: {} });
    return addressWorkflowId('default', name);
  },
});

/** Where money or a conflict is decided about, by policy or by a person, and what a failing address create leaves. */
export const DECISION_SCENARIOS: Scenario[] = [
  compensated('partial-reverted', { type: 'exchange', options: { compensation: 'revert' } }),
  compensated('partial-reverted-refunded', {
    type: 'deposit_exchange',
    options: { compensation: 'revert', revertTo: REVERT_TO },
    decisions: [['the follow-up <id>.r1 ended completed', { action: 'revert' }]],
  }),
  compensated('partial-two-places', {
    type: 'exchange_withdraw',
    left: 'both',
    options: { compensation: 'finish' },
    decisions: [
      ['', { action: 'finish', kind: 'unpaid' }],
      ['the follow-up <id>.r1 ended completed', { action: 'finish', kind: 'unexchanged', as: 'exchange_withdraw' }],
    ],
  }),
  compensated('partial-cards', {
    type: 'withdraw',
    order: { ...SEVERAL_CARDS, amount: '12.50' },
    options: { compensation: 'finish' },
    decisions: [
      ['several cards', { action: 'finish', wallet_details: [{ amount: '4.5', wallet: '5555555555554444' }] }],
      ['the follow-up <id>.r1 ended completed', { action: 'accept' }],
    ],
  }),
  conflicting('conflict-closed', 'closed'),
  conflicting('conflict-adopted', 'adopted'),
  conflicting('conflict-adopted-otherwise', 'adopted in spite of its amount'),
  amongOthers(startedAgain('refused-and-again')),
  cancelledPartial('partial-cancelled'),
  changedWhileAsked('partial-changed-while-asked'),
  lateWhileAsked('asked-anew-when-late'),
  uncertainAddress('deposit-address-uncertain'),
];

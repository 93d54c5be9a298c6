import { orderStartOptions, startReceived } from '../../src/client/start-options.js';
import { receivedWorkflowId } from '../../src/contract/names.js';
import { recoveredStart } from '../../src/contract/order/followers.js';
import { type OrderType, workflowTypeOf } from '../../src/contract/order/types.js';
import { isMalformed } from '../../src/contract/service-objects.js';
import type { Installation } from './installation.js';
import { decideWhenParked, input, PARTIAL, type Scenario } from './scenarios.js';

/** A receipt on a permanent address of its own. With a policy it is started by hand, else by its callback. */
const receivedScenario = (name: string, marker: string, compensation?: 'finish'): Scenario => ({
  name,
  run: async ({ orders, client, sandbox }) => {
    const address = { currency: 'usdt', network: 'tron', currency_to: 'btc' };
    const { address: made } = await orders.createAddress({ ref: name, address });
    const description = `[sandbox ${marker}${compensation ? ' callback=drop' : ''}]`;
    const { order } = sandbox.receiveDeposit({ addressUuid: made.uuid, amount: '250', description });
    const start = { ref: name, order_uuid: order.order_uuid, ...(compensation && { compensation }) };
    if (compensation) await startReceived(client, start);
    else await sandbox.sendCallback(order.order_uuid);
    const handle = orders.received(order.order_uuid);
    await handle.result();
    return handle.workflowId;
  },
});

/** A callback about an order that does not exist. */
const forgedScenario = (name: string): Scenario => ({
  name,
  run: async ({ orders, client }) => {
    await startReceived(client, { ref: name, order_uuid: name });
    await orders
      .received(name)
      .result()
      .catch(() => undefined);
    return receivedWorkflowId('default', name);
  },
});

/** An order whose run is lost, followed from what the list tells. `gone`: the service shows it no more. */
const recoveredScenario = (name: string, type: OrderType, { gone = false } = {}): Scenario => ({
  name,
  run: async ({ orders, client, sandbox }: Installation) => {
    const handle = await orders.start(type, input(type, name, 'pay_ms=3000 after_ms=3000 callback=drop'));
    await handle.created();
    await client.workflow.getHandle(handle.workflowId).terminate('its run is lost');
    const [item] = await orders.orderList({ order_ids: [name] });
    const start = item && !isMalformed(item) && recoveredStart('default', item);
    if (!start) throw new Error('the order is not listed');
    if (gone) sandbox.removeOrder(item.order_uuid);
    await client.workflow.start(workflowTypeOf(type), {
      ...orderStartOptions(type, start.input),
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
    if (gone) await decideWhenParked('close-absent')(handle);
    await handle.result().catch(() => undefined);
    return handle.workflowId;
  },
});

/** An order whose final status changes after its end, which a callback says and an operator acknowledges. */
const afterEndScenario = (name: string): Scenario => ({
  name,
  run: async ({ orders, sandbox }: Installation) => {
    const handle = await orders.start('exchange', input('exchange', name, 'callback=drop'));
    const { order } = await handle.result();
    sandbox.turnOrder(order.order_uuid, 'error');
    await sandbox.sendCallback(order.order_uuid);
    const lookUps = orders.order(name, { afterEnd: true });
    await decideWhenParked('accept')(lookUps);
    await lookUps.result();
    return lookUps.workflowId;
  },
});

/** Runs that only follow: receipts on permanent addresses, and orders whose run is lost. */
export const FOLLOWER_SCENARIOS: Scenario[] = [
  receivedScenario('received', 'after_ms=1500'),
  receivedScenario('received-late', 'after_ms=1500 status=unseen status_times=1'),
  receivedScenario('received-partial-reported', PARTIAL),
  receivedScenario('received-partial-finished', PARTIAL, 'finish'),
  forgedScenario('received-absent'),
  recoveredScenario('recovered', 'exchange'),
  recoveredScenario('recovered-gone', 'deposit', { gone: true }),
  afterEndScenario('after-end-changed'),
];

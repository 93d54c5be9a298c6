import type { AuditLine } from '../../chaos/evidence/audit.js';
import type { Evidence, FollowedOrder } from '../../chaos/evidence/evidence.js';
import type { BalanceChange, OrderObject, SandboxOrder } from '../../sandbox/index.js';
import type { OrderResult } from '../../src/contract/order/input-and-result.js';

/** Evidence that a test may change; `cleanEvidence` makes a fresh one each time. */
export type Draft = { -readonly [K in keyof Evidence]: Evidence[K] } & {
  accepted: Set<string>;
  followed: Map<string, FollowedOrder>;
  service: SandboxOrder[];
};

/** One change of the usd balance; before and after do not matter to the oracle. */
const change = (amount_change: string): BalanceChange => ({
  ...{ currency: 'usd', amount_change, amount_before: '0', amount_after: '0', created_at: '2026-01-01 00:00:00' },
});

/** A payout in usd as the service has it: `amount` was asked for, `left` of it was not paid. */
export function servicePayout(orderId: string, amount: string, moved: string, left = '0'): SandboxOrder {
  const order: Partial<OrderObject> = {
    order_uuid: `uuid-${orderId}`,
    order_type: 'withdraw',
    user_order_id: orderId,
    status: left === '0' ? 'completed' : 'completed_partially',
    expected_amount_from: amount,
    amount_from: moved,
    amount_to: moved,
    amount_from_fee: null,
    amount_to_fee: '0',
    currency_from: 'usd',
    currency_to: 'usd',
    finalized_at: '1970-01-01 00:00:30',
  };
  return {
    order: order as OrderObject,
    balance_changes: [change(`-${moved}`)],
    truth: { unexchanged: '0', unpaid: left },
  };
}

/** What our side says about an order of the service: the truth. */
export function truthfully({ order, truth }: SandboxOrder): FollowedOrder {
  const remainder = truth.unpaid === '0' ? [] : [{ kind: 'unpaid', currency: 'usd', amount: truth.unpaid }];
  const result = { outcome: order.status, order, adopted: false, remainder } as unknown as OrderResult;
  const orderId = order.user_order_id;
  return { orderId, end: 'completed', endedAtMs: 60_000, result, signalsAtMs: [50_000], createsCutOff: 0 };
}

const sendLine = ({ order: { user_order_id: orderId } }: SandboxOrder, index: number): AuditLine => ({
  ...{ id: `${index}`, event: 'send', atMs: 0, workflowId: `order:default:${orderId}`, orderId },
});

/** A run without fault: a payout of 10, and one of 20 of which 5 were not paid at first but by its follow-up. */
export function cleanEvidence(): Draft {
  const service = [
    servicePayout('a', '10', '10'),
    servicePayout('b', '20', '15', '5'),
    servicePayout('b.r1', '5', '5'),
  ];
  return {
    accepted: new Set(['a', 'b']),
    followed: new Map(service.map((item) => [item.order.user_order_id, truthfully(item)])),
    service,
    ledger: { start: { usd: '100' }, end: { usd: '70' } },
    requests: service.flatMap(({ order: { user_order_id: orderId } }) => [
      { atMs: 1_000, path: '/v2/order/list', orderId, status: 200 },
      { atMs: 1_010, path: '/v2/order/withdraw', orderId, status: 200 },
      { atMs: 2_000, path: '/v2/order/status', orderId, status: 200 },
    ]),
    callbacks: service.map(({ order }) => ({
      ...{ sentAtMs: 49_990, answeredAtMs: 50_010, status: 200 },
      orderId: order.user_order_id,
      orderUuid: order.order_uuid,
      orderStatus: order.status,
    })),
    leaks: [],
    searched: { values: 1, forms: 1, bytes: 1, kinds: 1, neverSeen: [] },
    // More than were sent, so that tests may add creates; the oracle asks for one line for each that arrived.
    audit: { files: 1, problems: [], lines: [...service, ...service, ...service, ...service].map(sendLine) },
    choices: [],
    sentBeforeFailover: new Set(),
    wronglyAccepted: [],
  };
}

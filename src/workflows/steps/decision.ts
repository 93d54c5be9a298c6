import { ORDER_UUID_FORMAT } from '../../contract/ids.js';
import type { Decision } from '../../contract/orders.js';
import type { OrderRun } from './order-run.js';

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= 500;

const FIELDS = ['action', 'by', 'reason', 'revision', 'order_uuid', 'kind'];

/** Why a decision is refused now, in words for the person who sent it; undefined = it may be taken. */
export function refusal(run: OrderRun, decision: unknown): string | undefined {
  if (typeof decision !== 'object' || decision === null) return 'decide needs {action, by, reason, revision}';
  const { action, by, reason, revision, order_uuid, kind } = decision as Partial<Decision>;
  const unknown = Object.keys(decision).filter((key) => !FIELDS.includes(key));
  if (unknown.length > 0) return `unknown or not yet supported: ${unknown.join(', ')}`;
  const allowed = run.attention?.allowed ?? [];
  const allowedNow = allowed.length > 0 ? `allowed now: ${allowed.join(', ')}` : 'nothing can be decided now';
  if (run.decision) return 'another decision was taken a moment ago; look again';
  if (!action || !allowed.includes(action)) return `action ${String(action)} is not allowed; ${allowedNow}`;
  if (!isText(by)) return 'by: who decides? (1 to 500 characters)';
  if (!isText(reason)) return 'reason: why? (1 to 500 characters)';
  if (revision !== run.revision) {
    return `revision ${String(revision)} is stale: the order is at revision ${run.revision}; look again (orderState), then decide`;
  }
  if (action === 'adopt' && !ORDER_UUID_FORMAT.test(order_uuid ?? '')) return 'adopt needs the order_uuid to follow';
  if (kind !== undefined && kind !== 'unexchanged' && kind !== 'unpaid')
    return "kind must be 'unexchanged' or 'unpaid'";
  return undefined;
}

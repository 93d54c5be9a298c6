import { ADOPTABLE_DIFFERENCES } from '../../contract/differences/echo.js';
import { ORDER_UUID_FORMAT } from '../../contract/ids.js';
import type { Decision } from '../../contract/order/messages.js';
import { FOLLOW_UP_TYPES } from '../../contract/order/types.js';
import { wayProblem } from './decision-fields.js';
import type { OrderRun } from './run.js';

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= 500;

const FIELDS = [
  'action',
  'by',
  'reason',
  'revision',
  'order_uuid',
  'differences',
  'kind',
  'as',
  'revertTo',
  'wallet_details',
];

/** Fields that only one kind of action can mean. */
const ADOPT_FIELDS = ['order_uuid', 'differences'] as const;
const WAY_FIELDS = ['kind', 'as', 'revertTo', 'wallet_details'] as const;

/** Why a decision is refused now, in words for the person who sent it; undefined = it may be taken. */
export function refusal(run: OrderRun, decision: unknown): string | undefined {
  if (typeof decision !== 'object' || decision === null) return 'decide needs {action, by, reason, revision}';
  const { action, by, reason, revision } = decision as Partial<Decision>;
  const unknown = Object.keys(decision).filter((key) => !FIELDS.includes(key));
  if (unknown.length > 0) return `unknown: ${unknown.join(', ')}`;
  const allowed = run.attention?.allowed ?? [];
  const allowedNow = allowed.length > 0 ? `allowed now: ${allowed.join(', ')}` : 'nothing can be decided now';
  if (run.decision) return 'another decision was taken a moment ago; look again';
  if (!action || !allowed.includes(action)) return `action ${String(action)} is not allowed; ${allowedNow}`;
  if (!isText(by)) return 'by: who decides? (1 to 500 characters)';
  if (!isText(reason)) return 'reason: why? (1 to 500 characters)';
  if (revision !== run.revision) {
    return `revision ${String(revision)} is stale: the order is at revision ${run.revision}; look again (orderState), then decide`;
  }
  return fieldsProblem(run, decision as Partial<Decision>);
}

/** What is wrong with the fields that an action takes besides. */
function fieldsProblem(run: OrderRun, decision: Partial<Decision>): string | undefined {
  const { action, order_uuid: orderUuid, kind, as } = decision;
  const moves = action === 'finish' || action === 'revert';
  const others = [...(action === 'adopt' ? [] : ADOPT_FIELDS), ...(moves ? [] : WAY_FIELDS)];
  const misplaced = others.filter((field) => decision[field] !== undefined);
  if (misplaced.length > 0) return `${action} does not take ${misplaced.join(', ')}`;
  if (action === 'adopt' && !ORDER_UUID_FORMAT.test(orderUuid ?? '')) return 'adopt needs the order_uuid to follow';
  const unnamed = differencesProblem(decision.differences);
  if (unnamed) return unnamed;
  if (kind !== undefined && kind !== 'unexchanged' && kind !== 'unpaid')
    return "kind must be 'unexchanged' or 'unpaid'";
  if (as !== undefined && !FOLLOW_UP_TYPES.includes(as)) return `as must be one of ${FOLLOW_UP_TYPES.join(', ')}`;
  return moves ? wayProblem(run.offers, decision) : undefined;
}

/** Only whether it names fields: in which of them the order differs is read when the decision is acted on. */
function differencesProblem(differences: unknown): string | undefined {
  if (differences === undefined) return undefined;
  const named =
    Array.isArray(differences) && differences.length > 0 && new Set(differences).size === differences.length;
  if (named && differences.every((field) => ADOPTABLE_DIFFERENCES.includes(field))) return undefined;
  return `differences: the fields in which the order differs, each once, of ${ADOPTABLE_DIFFERENCES.join(', ')}`;
}

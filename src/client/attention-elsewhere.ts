import type { Client } from '@temporalio/client';
import { searchAttribute } from '../contract/names.js';
import { IS_NO_ORDER, quoted } from './list-orders.js';
import { callTemporal } from './temporal-calls.js';

/** A closed workflow keeps its mark: after two days somebody has seen it, or a newer one says the same. */
const SHOWN_AFTER_CLOSE_MS = 48 * 3_600_000;

/** More would hide the orders that they are shown beside. */
const MAX_SHOWN = 20;

/** A workflow that is no order and wants a person to look: a batch, an address, a reconciliation. */
export interface AttentionElsewhere {
  workflowId: string;
  /** Its workflow type. */
  type: string;
  startedAt: Date;
  closedAt?: Date;
}

/** What wants a person beside the orders, newest first: what is open, and what closed in the last two days; 20 at most. */
export function attentionElsewhere(client: Client, account?: string): Promise<AttentionElsewhere[]> {
  const since = new Date(Date.now() - SHOWN_AFTER_CLOSE_MS).toISOString();
  const query = [
    `${searchAttribute.needsAttention.name} = true`,
    IS_NO_ORDER,
    `(ExecutionStatus = 'Running' OR CloseTime > '${since}')`,
    ...(account === undefined ? [] : [`${searchAttribute.account.name} = ${quoted(account)}`]),
  ].join(' AND ');
  return callTemporal(client, async () => {
    const found: AttentionElsewhere[] = [];
    for await (const { type, workflowId, startTime, closeTime } of client.workflow.list({ query })) {
      found.push({ workflowId, type, startedAt: startTime, ...(closeTime && { closedAt: closeTime }) });
      if (found.length >= MAX_SHOWN) break;
    }
    return found;
  });
}

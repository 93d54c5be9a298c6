import type { Evidence, Finding } from '../evidence/evidence.js';
import { isCreate } from './traffic.js';

/** What the audit record lacks or shows as changed: every create and every choice that counted must have a line of its own in it. */
export const auditGaps = (evidence: Evidence): Finding[] => [
  ...evidence.audit.problems.map((text) => ({ text: `audit record: ${text}` })),
  ...sendsWithoutLine(evidence),
  ...choicesWithoutLine(evidence),
];

/** The n-th create of an order must find n lines that were written before it; lines with one id are one act. */
function sendsWithoutLine({ audit, requests, sentBeforeFailover }: Evidence): Finding[] {
  const sent = new Map([...sentBeforeFailover].map((orderId) => [orderId, -1]));
  return requests.filter(isCreate).flatMap(({ orderId = 'no id', atMs }) => {
    const count = (sent.get(orderId) ?? 0) + 1;
    sent.set(orderId, count);
    const before = audit.lines.filter((line) => line.event === 'send' && line.orderId === orderId && line.atMs <= atMs);
    const lines = new Set(before.map(({ id }) => id)).size;
    return lines < count ? [{ orderId, text: `create ${count} of ${orderId} found ${lines} lines before it` }] : [];
  });
}

const choicesWithoutLine = ({ audit, choices }: Evidence): Finding[] =>
  choices.flatMap(({ event, workflowId, revision }) =>
    audit.lines.some((line) => line.event === event && line.workflowId === workflowId && line.revision === revision)
      ? []
      : [{ text: `${event} of ${workflowId} has no line` }],
  );

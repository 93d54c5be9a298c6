import type { RequestLogEntry } from '../../sandbox/index.js';
import { ORDER_TYPES } from '../../src/contract/order/types.js';
import type { Evidence, Finding } from '../evidence/evidence.js';

/** A create attempt ends itself after 50 s; a probe older than that belongs to another attempt. */
const ATTEMPT_MS = 50_000;

const CREATE_PATHS = new Set<string>(ORDER_TYPES.map((type) => `/v2/order/${type}`));

/** True for a request that creates an order. */
export const isCreate = ({ path }: Pick<RequestLogEntry, 'path'>): boolean => CREATE_PATHS.has(path);

/**
 * Creates without a probe of their own: an answered list of that order since its last create. A
 * look-up of another kind is a list with a status request, so each status request takes back one list.
 */
export function blindSends({ requests }: Evidence): Finding[] {
  const listsOf = new Map<string, RequestLogEntry[]>();
  const findings: Finding[] = [];
  for (const request of requests) {
    const { orderId, orderIds = [], path, atMs } = request;
    // Probes before first sends may be one request for many orders.
    for (const id of path === LIST_PATH ? [...orderIds, ...(orderId ? [orderId] : [])] : [])
      listsOf.set(id, [...(listsOf.get(id) ?? []), request]);
    if (orderId === undefined || path === LIST_PATH) continue;
    const lists = listsOf.get(orderId) ?? [];
    if (!isCreate(request)) {
      lists.shift();
      continue;
    }
    listsOf.delete(orderId);
    if (lists.some((list) => isAnswered(list) && atMs - list.atMs <= ATTEMPT_MS)) continue;
    const found = lists.map(({ status, fault }) => `a list with HTTP ${status}${fault ? ` (${fault})` : ''}`);
    findings.push({ orderId, text: `a create of ${orderId} was sent after ${found.join(', ') || 'no list'}` });
  }
  return findings;
}

const LIST_PATH = '/v2/order/list';

const isAnswered = ({ status, fault }: RequestLogEntry): boolean =>
  status === 200 && (fault === undefined || fault.startsWith('echo-'));

/** Identical callbacks under way share one signal, so it may be this much older than the callback that shares it. */
const SHARED_SIGNAL_MS = 2_000;

/**
 * Callbacks that were acknowledged before a signal had reached the order's workflow, and the workflow had not ended. All
 * processes share one clock, so there is no tolerance: an acknowledgement a moment too early is one that a crash loses.
 */
export function callbacksWithoutEffect({ callbacks, followed }: Evidence): Finding[] {
  return callbacks.flatMap(({ orderId, status, sentAtMs, answeredAtMs }) => {
    const workflow = followed.get(orderId);
    // An order that Temporal does not know is acknowledged on purpose; whether it is ours, `orphans` tells.
    if (status !== 200 || !workflow) return [];
    const { signalsAtMs, endedAtMs } = workflow;
    const signalled = signalsAtMs.some((atMs) => atMs >= sentAtMs - SHARED_SIGNAL_MS && atMs <= answeredAtMs);
    if (signalled || (endedAtMs !== undefined && endedAtMs <= answeredAtMs)) return [];
    return [{ orderId, text: `a callback of ${orderId} was acknowledged at ${answeredAtMs} before any signal` }];
  });
}

/** Forged callbacks that were not refused. */
export const forgedAccepted = ({ wronglyAccepted }: Evidence): Finding[] => wronglyAccepted.map((text) => ({ text }));

import { lagsByRate } from '../sandbox/lookups.js';
import type { Evidence } from './evidence/evidence.js';
import { LAG_RATE } from './faults.js';
import type { Load } from './load.js';
import { isCreate } from './oracle/traffic.js';

/** Groups of faults as the report names them; the first that matches counts. */
const CREATE_GROUPS: readonly (readonly [string, RegExp])[] = [
  ['5xx after', /^5\d\d-after$/],
  ['429 after', /^429-after$/],
  ['another form', /^echo-/],
  ['5xx before', /^5\d\d-before$/],
  ['no answer', /^no-answer/],
  ['reset', /^reset/],
  ['garbage 200', /^(html|truncated|status-error)/],
];

/** What really happened, from the service's own log; one line each. Only requests under fire count. */
export function ratesReached(evidence: Evidence, seed: string, healedAtMs: number): string[] {
  const requests = evidence.requests.filter(({ atMs }) => atMs < healedAtMs);
  const creates = requests.filter(isCreate);
  const byGroup = CREATE_GROUPS.map(([name, pattern]) => {
    const met = creates.filter(({ fault }) => fault !== undefined && pattern.test(fault)).length;
    return `${name} ${share(met, creates.length)}`;
  });
  const lookUps = requests.filter(({ path }) => path === '/v2/order/status' || path === '/v2/order/list');
  const failing = lookUps.filter(({ fault }) => fault !== undefined && !fault.startsWith('echo-')).length;
  const ids = [...new Set(evidence.service.map(({ order }) => order.user_order_id))];
  const lagging = ids.filter((id) => lagsByRate(seed, id, LAG_RATE)).length;
  return [
    `creates ${creates.length}: ${byGroup.join(', ')}`,
    `look-ups ${lookUps.length}: failing ${share(failing, lookUps.length)}`,
    `orders at the service ${evidence.service.length}: invisible at first ${share(lagging, ids.length)}`,
    callbackText(evidence, healedAtMs),
  ];
}

/** How many orders were called back, how often, and how many posts showed an older status after the final one. */
function callbackText({ service, callbacks }: Evidence, healedAtMs: number): string {
  const orders = service.filter(({ order }) => finalizedAtMs(order) < healedAtMs);
  const posts = callbacks.filter(({ sentAtMs }) => sentAtMs < healedAtMs);
  const called = new Set(posts.map(({ orderUuid }) => orderUuid)).size;
  const older = posts.filter(({ orderStatus }) => orderStatus === 'processing').length;
  const acknowledged = posts.filter(({ status }) => status === 200).length;
  const each = called === 0 ? '–' : ((posts.length - older) / called).toFixed(1);
  return `callbacks lost ${share(orders.length - called, orders.length)}; posts ${posts.length}, ${each} of each final status, older status after it ${older}; acknowledged ${acknowledged}`;
}

const finalizedAtMs = ({ finalized_at: at }: { finalized_at: string | null }): number =>
  at === null ? Number.POSITIVE_INFINITY : Date.parse(`${at.replace(' ', 'T')}Z`);

/** About how many of the orders callbacks were forged, and what became of these. */
export function forgedText({ forged, planned }: Load): string {
  const { orders, refused, accepted, unanswered } = forged;
  return `callbacks forged about ${share(orders, planned.length)} of the orders: refused ${refused}, taken as a hint ${accepted}, unanswered ${unanswered}`;
}

const share = (part: number, whole: number): string => (whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`);

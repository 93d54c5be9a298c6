import { lagsByRate } from '../sandbox/lookups.js';
import type { Evidence } from './evidence/evidence.js';
import { LAG_RATE } from './faults.js';
import { isCreate } from './oracle/traffic.js';

/** Groups of faults as the report names them; the first that matches counts. */
const CREATE_GROUPS: readonly (readonly [string, RegExp])[] = [
  ['5xx after', /^5\d\d-after$/],
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
  const failing = lookUps.filter(({ fault }) => fault !== undefined).length;
  const ids = [...new Set(evidence.service.map(({ order }) => order.user_order_id))];
  const lagging = ids.filter((id) => lagsByRate(seed, id, LAG_RATE)).length;
  const called = new Set(evidence.callbacks.map(({ orderUuid }) => orderUuid)).size;
  const acknowledged = evidence.callbacks.filter(({ status }) => status === 200).length;
  return [
    `creates ${creates.length}: ${byGroup.join(', ')}`,
    `look-ups ${lookUps.length}: failing ${share(failing, lookUps.length)}`,
    `orders at the service ${evidence.service.length}: invisible at first ${share(lagging, ids.length)}`,
    `callbacks lost ${share(evidence.service.length - called, evidence.service.length)}, posts ${evidence.callbacks.length}, acknowledged ${acknowledged}`,
  ];
}

const share = (part: number, whole: number): string => (whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`);

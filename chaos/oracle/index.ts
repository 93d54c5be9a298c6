import type { Evidence, Finding } from '../evidence/evidence.js';
import { auditGaps } from './audit.js';
import { beyondRemainder, moneyDifference } from './money.js';
import { doubles, falseFinals, falseRejects, lost, openOrders, orphans, parkedOrders } from './orders.js';
import { blindSends, callbacksWithoutEffect, forgedAccepted } from './traffic.js';

/** Secrets and personal data in places where they must not be. */
const leaks = ({ leaks: found }: Evidence): Finding[] =>
  found.map(({ place, what }) => ({ text: `${what} in ${place}` }));

/** Personal data that came nowhere, so that it proves nothing that it was not found. */
const canariesNeverSeen = ({ searched }: Evidence): Finding[] =>
  searched.neverSeen.map((kind) => ({ text: `${kind} was not even where it may be` }));

/** Every line of the oracle: what must not be, and the function that finds it. All must come out empty. */
export const ORACLE: readonly { name: string; find: (evidence: Evidence) => Finding[] }[] = [
  { name: 'doubles', find: doubles },
  { name: 'lost', find: lost },
  { name: 'orphans', find: orphans },
  { name: 'false rejects', find: falseRejects },
  { name: 'false finals', find: falseFinals },
  { name: 'money differences', find: moneyDifference },
  { name: 'follow-ups beyond the remainder', find: beyondRemainder },
  { name: 'blind sends', find: blindSends },
  { name: 'secrets', find: leaks },
  { name: 'canaries never seen', find: canariesNeverSeen },
  { name: 'gaps in the audit record', find: auditGaps },
  { name: 'callbacks acknowledged without effect', find: callbacksWithoutEffect },
  { name: 'forged callbacks accepted', find: forgedAccepted },
  { name: 'open and not parked', find: openOrders },
  { name: 'parked after the operator', find: parkedOrders },
];

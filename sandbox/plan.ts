import { chance, pick } from './chance.js';
import { type Marker, markerNumber } from './markers.js';
import { decimal, text } from './money.js';
import type { OrderType } from './rates.js';

/** The four final statuses. */
export const OUTCOMES = ['completed', 'completed_partially', 'canceled', 'error'] as const;
/** A final status. */
export type Outcome = (typeof OUTCOMES)[number];

/** What a final order's status may turn into. */
export const REGRESSIONS = ['processing', ...OUTCOMES] as const;
/** A status that a final order may turn into. */
export type Regression = (typeof REGRESSIONS)[number];

/** How far an order that ends `error` or `canceled` comes. */
export const STAGES = ['clean', 'after-deposit', 'after-exchange', 'after-payout'] as const;
/** A stage. */
export type Stage = (typeof STAGES)[number];

/** What a partial order leaves. */
export const LEFTOVERS = ['unexchanged', 'unpaid', 'both'] as const;
/** What a partial order leaves. */
export type Left = (typeof LEFTOVERS)[number];

/** The fate of an order, fixed at its creation. Shares are decimal strings from 0 to 1. */
export interface Plan {
  outcome: Outcome;
  stage: Stage;
  unexchanged: string;
  unpaid: string;
  /** Deposit actually made / expected. */
  paid: string;
  /** Actual rate / expected rate. */
  rateFactor: string;
  /** True if the final order still shows the commissions that it was quoted; the balances show those that were charged. */
  quotedFees?: boolean;
  /** Milliseconds, unscaled; undefined = the settings' durations. */
  payMs?: number;
  afterMs?: number;
  /** The status it turns into after its end, and how long after. */
  regression?: Regression;
  regressMs?: number;
}

const FEES = ['charged', 'quoted'] as const;

/** True for types that have an exchange. */
const exchanges = (type: OrderType): boolean => type.includes('exchange');
/** True for types that have a payout. */
const paysOut = (type: OrderType): boolean => type.includes('withdraw');

function oneOf<T extends string>(values: readonly T[], value: string | undefined, key: string): T | undefined {
  if (value === undefined) return undefined;
  const found = values.find((candidate) => candidate === value);
  if (found === undefined) throw new RangeError(`sandbox marker ${key} must be one of ${values.join(', ')}`);
  return found;
}

function share(value: string, key: string): string {
  if (!/^(0|[1-9]\d*)(\.\d+)?$/.test(value)) throw new RangeError(`sandbox marker ${key} must be a decimal`);
  return text(decimal(value));
}

/** What may be left, given the type: nothing can stay unpaid without a payout. */
function leftOf(type: OrderType, wanted: Left | undefined, draw: number): Left | undefined {
  if (!exchanges(type)) return paysOut(type) ? 'unpaid' : undefined;
  if (!paysOut(type)) return 'unexchanged';
  return wanted ?? LEFTOVERS[Math.floor(draw * LEFTOVERS.length)];
}

/** How often orders end in which way: shares from 0 to 1. */
interface Rates {
  outcomes: Partial<Record<Outcome, number>>;
  regressions: Partial<Record<Regression, number>>;
  quotedFees: number;
}

/** Decides an order's fate from its marker, else from the rates and the seed. Throws RangeError on a bad marker. */
export function planOrder(
  type: OrderType,
  key: string,
  marker: Marker,
  { outcomes, regressions, quotedFees }: Rates,
  seed: string,
): Plan {
  const drawn = pick(Object.entries(outcomes), chance(seed, `outcome ${key}`)) ?? 'completed';
  const chosen = oneOf(OUTCOMES, marker.outcome ?? drawn, 'outcome') ?? 'completed';
  // A deposit alone has nothing that could stay behind; only a marker makes one partial.
  const outcome =
    type === 'deposit' && marker.outcome === undefined && chosen === 'completed_partially' ? 'completed' : chosen;
  const wantedLeft = oneOf(LEFTOVERS, marker.left, 'left');
  const left = outcome === 'completed_partially' ? leftOf(type, wantedLeft, chance(seed, `left ${key}`)) : undefined;
  const drawnFraction = (1 + Math.floor(chance(seed, `fraction ${key}`) * 98)) / 100;
  const fraction = share(marker.fraction ?? String(drawnFraction), 'fraction');
  const drawnFees = chance(seed, `fees ${key}`) < quotedFees ? 'quoted' : 'charged';
  const regression = pick(Object.entries(regressions), chance(seed, `regression ${key}`));
  if (decimal(fraction).gt(1)) throw new RangeError('sandbox marker fraction must be at most 1');
  return {
    outcome,
    stage: oneOf(STAGES, marker.stage, 'stage') ?? 'clean',
    unexchanged: left === 'unexchanged' || left === 'both' ? fraction : '0',
    unpaid: left === 'unpaid' || left === 'both' ? fraction : '0',
    paid: share(marker.paid ?? '1', 'paid'),
    rateFactor: share(marker.rate ?? '1', 'rate'),
    quotedFees: oneOf(FEES, marker.fees ?? drawnFees, 'fees') === 'quoted',
    payMs: markerNumber(marker, 'pay_ms'),
    afterMs: markerNumber(marker, 'after_ms'),
    regression: oneOf(REGRESSIONS, marker.then ?? regression, 'then'),
    regressMs: markerNumber(marker, 'then_ms'),
  };
}

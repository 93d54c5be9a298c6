import { z } from 'zod';
import { PLACES, type Place } from './fault-types.js';
import { parseFault } from './faults.js';
import { OUTCOMES, REGRESSIONS } from './plan.js';
import { CURRENCIES, PAYERS, TERMS } from './rates.js';
import type { Signer } from './signature.js';

/** What to start a sandbox with. Everything has a default. */
export interface SandboxOptions {
  /** 0, the default, takes a free port. */
  port?: number;
  adminPort?: number;
  apiKey?: string;
  apiSecret?: string;
  signer?: Signer;
  /** Decides everything that is drawn by rate. */
  seed?: string;
  /** Directory of the journal; undefined: nothing outlives the process. */
  dataDir?: string;
  /** Multiplies durations, delays in minutes and callback retries; not the milliseconds of markers. */
  timeScale?: number;
  settings?: SettingsChange;
}

/** Defaults of the keys. They open nothing but a sandbox. */
export const SANDBOX_API_KEY = 'sandbox-key';
/** Default of the signing secret. */
export const SANDBOX_API_SECRET = 'sandbox-secret';

const rate = z.number().min(0).max(1);
const durationMs = z.number().min(0).max(1e12);
/** The five answers a real service may give to a used order id; also the five to an unknown one. */
export const DUPLICATE_MODES = ['a', 'b', 'c', 'd', 'e'] as const;
const mode = z.enum(DUPLICATE_MODES);
const currency = z.string().refine((code) => Object.hasOwn(CURRENCIES, code), { error: 'unknown currency' });
const decimalText = z.string().regex(/^-?\d+(\.\d+)?$/);

const faultKey = z.string().refine(
  (key) => {
    const [place = '', ...name] = key.split('.');
    return isPlace(place) && parseFault(place, name.join('.')) !== undefined;
  },
  { error: 'must be <place>.<fault>, see README' },
);

const isPlace = (place: string): place is Place => (PLACES as readonly string[]).includes(place);

const CALLBACKS = z.strictObject({
  enabled: z.boolean(),
  /** Share of orders whose callback never comes. */
  lostRate: rate,
  /** Uuids of permanent addresses whose orders are never called back. */
  lostAddresses: z.array(z.string()),
  /** How often each one is sent, at the same time. */
  copies: z.number().int().min(1).max(200),
  initialRetryMs: durationMs,
  /** Sends an older state once more after the final one was acknowledged. */
  reorder: z.boolean(),
});
const DURATIONS = z.strictObject({ pay: durationMs, execute: durationMs, regress: durationMs });

/** Terms of a pair that differ from what the sandbox starts with; null: the pair is gone. */
const PAIR = z
  .strictObject({
    rate: decimalText,
    min: decimalText,
    max: decimalText.nullable(),
    precisionFrom: z.number().int().min(0).max(18),
    precisionTo: z.number().int().min(0).max(18),
    /** Who pays the commission of a side; says nothing where that side has none. */
    payerFrom: z.enum(PAYERS),
    payerTo: z.enum(PAYERS),
  })
  .partial()
  .nullable();
const pairName = z.string().refine((name) => TERMS.has(name), { error: 'must be <order type> <pair key>' });

const SETTINGS = z.strictObject({
  /** Answer to a used order_id: a 400, b 200 with the same order, c a second order, d 409, e 500. */
  duplicateMode: mode,
  /** Status answer to an unknown order: a 400, b 404, c 200 {status: "error"}, d 200 data null, e 200 data []. */
  unknownMode: mode,
  /** `<place>.<fault>` to its rate. */
  faults: z.record(faultKey, rate),
  callbacks: CALLBACKS,
  /** pay: new → processing; execute: processing → final; regress: final → another status. Scaled. */
  durationsMs: DURATIONS,
  outcomes: z.partialRecord(z.enum(OUTCOMES), rate),
  /** Shares of orders that turn into another status after they were final. */
  regressions: z.partialRecord(z.enum(REGRESSIONS), rate),
  /** Share of final orders that still show the commissions they were quoted, whatever was charged. */
  quotedFees: rate,
  /** False: an order that the balances do not cover ends `error`. */
  overdraft: z.boolean(),
  /** Requests within a second before 429; null: no limit. */
  requestsPerSecond: z.number().positive().nullable(),
  /** Every connection is destroyed. */
  serverDown: z.boolean(),
  /** A connection that idled longer is stale: its next request meets a reset. null: never. Not scaled. */
  staleAfterMs: durationMs.nullable(),
  /** How long new orders stay invisible to status and list. Not scaled. */
  visibilityLagMs: durationMs,
  /** Share of orders that lag. */
  visibilityLagRate: rate,
  /** `fixed`: by identifier, always the same; `random`: a new order in every answer; else by creation. */
  listOrder: z.enum(['fixed', 'random', 'newest', 'oldest']),
  /** Page size of both lists, whatever their limit; null: as many entries as were asked for. */
  listAtMost: z.number().int().min(0).max(1000).nullable(),
  /** The part of order_ids that is read, as `slice` takes it: [0, 100], [-100], [0, -1]; null: all. */
  orderIdsRead: z.array(z.number().int()).min(1).max(2).nullable(),
  /** So many orders of somebody else appear, first in the list, after every full page. */
  newOrdersWhilePaging: z.number().int().min(0).max(100),
  /** The clock of date_from and date_to is so many hours ahead of that of created_at. */
  dateFilterShiftHours: z.number().min(-12).max(14),
  /** Where in its page the item stands that `malformed` by rate breaks. */
  malformedIndex: z.number().int().min(0).max(999),
  /** user_order_id of receipts, which is not documented: an id of the service, the order's own uuid, or ''. */
  receiptOrderId: z.enum(['generated', 'uuid', 'empty']),
  /** New permanent addresses of a network are one blockchain address and differ in their memo. */
  sharedAddresses: z.boolean(),
  /** Terms that changed, by `<order type> <pair key>`. */
  pairs: z.record(pairName, PAIR),
  /** Sets the named balances, now; decimal strings. */
  balances: z.record(currency, decimalText),
});

/** How the sandbox behaves; may be changed while it runs. */
export type SandboxSettings = z.infer<typeof SETTINGS>;

const CHANGE = SETTINGS.partial().extend({
  callbacks: CALLBACKS.partial().optional(),
  durationsMs: DURATIONS.partial().optional(),
});

/** A change of settings: what is left out stays. Of callbacks and durationsMs single fields may be given. */
export type SettingsChange = z.infer<typeof CHANGE>;

/** Settings at the start: no faults, everything completes. */
export const DEFAULT_SETTINGS: SandboxSettings = {
  duplicateMode: 'a',
  unknownMode: 'a',
  faults: {},
  callbacks: { enabled: true, lostRate: 0, lostAddresses: [], copies: 1, initialRetryMs: 1000, reorder: false },
  durationsMs: { pay: 200, execute: 200, regress: 1000 },
  outcomes: {},
  regressions: {},
  quotedFees: 0,
  overdraft: false,
  requestsPerSecond: null,
  serverDown: false,
  staleAfterMs: null,
  visibilityLagMs: 0,
  visibilityLagRate: 1,
  listOrder: 'fixed',
  listAtMost: null,
  orderIdsRead: null,
  newOrdersWhilePaging: 0,
  dateFilterShiftHours: 0,
  malformedIndex: 0,
  receiptOrderId: 'generated',
  sharedAddresses: false,
  pairs: {},
  balances: {},
};

/** Applies a change. Throws RangeError naming every bad field. */
export function changeSettings(settings: SandboxSettings, change: unknown): SandboxSettings {
  const checked = CHANGE.safeParse(change);
  if (!checked.success) {
    throw new RangeError(checked.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
  }
  return {
    ...settings,
    ...checked.data,
    callbacks: { ...settings.callbacks, ...checked.data.callbacks },
    durationsMs: { ...settings.durationsMs, ...checked.data.durationsMs },
  };
}

import { chance } from '../sandbox/chance.js';
import type { SettingsChange } from '../sandbox/index.js';

/** Share of orders that neither status nor list shows at first. */
export const LAG_RATE = 0.1;
/** Shorter than the settle window: otherwise no client could tell a late order from none. */
const LAG_MS = 9_000;

/** Share of orders about which callbacks are forged. */
export const FORGED_RATE = 0.05;

/** What goes wrong with creates; the groups are those of the report. */
const CREATE_FAULTS = {
  'create.500-after': 0.05,
  'create.502-after': 0.05,
  'create.503-after': 0.05,
  'create.504-after': 0.05,
  'create.429-after': 0.02,
  'create.500-before': 0.03,
  'create.503-before': 0.02,
  'create.no-answer': 0.08,
  'create.no-answer-before': 0.02,
  'create.reset': 0.03,
  'create.reset-before': 0.02,
  'create.html': 0.02,
  'create.truncated': 0.015,
  'create.status-error': 0.015,
};

/** What goes wrong with look-ups, a fifth in all. No 400 and no 404: these are answers, not failures. */
const LOOK_UP_FAULTS = {
  500: 0.05,
  503: 0.05,
  reset: 0.03,
  html: 0.02,
  truncated: 0.02,
  429: 0.01,
  401: 0.01,
  'no-answer': 0.01,
};

/** The right order, written otherwise. */
const ECHOES = [
  'echo-lower-case',
  'echo-masked',
  'echo-blanks',
  'echo-no-wallet',
  'echo-no-details',
  'echo-details-text',
  'echo-extra-key',
  'echo-fee-on-top',
  'echo-rounded',
];
const ECHO_RATE = 0.01;

const echoFaults = (): Record<string, number> =>
  Object.fromEntries(
    ['create', 'status', 'list'].flatMap((place) => ECHOES.map((name) => [`${place}.${name}`, ECHO_RATE])),
  );

const lookUpFaults = (place: 'status' | 'list') =>
  Object.fromEntries(Object.entries(LOOK_UP_FAULTS).map(([name, rate]) => [`${place}.${name}`, rate]));

const UNKNOWN_MODES = ['a', 'b', 'c', 'd', 'e'] as const;

/** The service as it is while everything fails. A used order id is executed a second time: nothing protects us there. */
export function underFire(seed: string): SettingsChange {
  return {
    duplicateMode: 'c',
    unknownMode: UNKNOWN_MODES[Math.floor(chance(seed, 'unknown mode') * UNKNOWN_MODES.length)] ?? 'a',
    faults: { ...CREATE_FAULTS, ...lookUpFaults('status'), ...lookUpFaults('list'), ...echoFaults() },
    outcomes: { completed_partially: 0.18, error: 0.08, canceled: 0.06 },
    callbacks: { enabled: true, lostRate: 0.3, copies: 3, initialRetryMs: 1_000, reorder: true },
    durationsMs: { pay: 1_500, execute: 2_500 },
    visibilityLagMs: LAG_MS,
    visibilityLagRate: LAG_RATE,
    quotedFees: 0.1,
  };
}

/** What the service does for a while, in milliseconds since the load began. */
export interface Spell {
  name: string;
  fromMs: number;
  toMs: number;
  during: SettingsChange;
}

/** Look-ups that show no order at all, for longer than the settle window; and an outage of creates within it. */
export const SPELLS: readonly Spell[] = [
  {
    name: 'look-ups show no order',
    fromMs: 18_000,
    toMs: 50_000,
    during: { visibilityLagMs: 86_400_000, visibilityLagRate: 1 },
  },
  { name: 'no create is accepted', fromMs: 30_000, toMs: 42_000, during: { faults: { 'create.503-before': 1 } } },
];

/** The settings of a spell as they are before and after it. */
export const outside = ({ during }: Spell, seed: string): SettingsChange =>
  Object.fromEntries(Object.entries(underFire(seed)).filter(([name]) => Object.hasOwn(during, name)));

/** Faults off. A used order id is still executed again, and outcomes stay mixed: those are no faults. */
export const HEALED: SettingsChange = {
  faults: {},
  callbacks: { lostRate: 0, copies: 1, reorder: false },
  visibilityLagMs: 0,
};

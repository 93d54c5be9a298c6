import {
  changeSettings,
  DEFAULT_SETTINGS,
  SANDBOX_API_KEY,
  SANDBOX_API_SECRET,
  type SandboxOptions,
  type SandboxSettings,
} from './options.js';
import { type Fee, findTerms, type OrderType, type Pair, pairKey, TERMS, type Terms } from './rates.js';
import { Store } from './store.js';
import { Traffic } from './traffic.js';

/** Options with every default filled in. */
export type ResolvedOptions = Required<Omit<SandboxOptions, 'dataDir' | 'settings'>>;

/** What all parts of a running sandbox share. */
export interface World {
  readonly options: ResolvedOptions;
  readonly store: Store;
  settings: SandboxSettings;
  readonly traffic: Traffic;
  /** How many draws were made per place and order, so that each request draws anew. */
  readonly draws: Map<string, number>;
  redirectHits: number;
}

/** A world with the options' settings in force and what the journal of its data directory holds. Throws on bad settings. */
export function createWorld(options: SandboxOptions): World {
  const settings = changeSettings(DEFAULT_SETTINGS, options.settings ?? {});
  return {
    options: {
      port: options.port ?? 0,
      adminPort: options.adminPort ?? 0,
      apiKey: options.apiKey ?? SANDBOX_API_KEY,
      apiSecret: options.apiSecret ?? SANDBOX_API_SECRET,
      signer: options.signer ?? 'hmac-sha256',
      seed: options.seed ?? '1',
      timeScale: options.timeScale ?? 1,
    },
    store: new Store(options.dataDir, settings.balances),
    settings,
    traffic: new Traffic(options.dataDir),
    draws: new Map(),
    redirectHits: 0,
  };
}

/** The terms of a pair as they are now; undefined when the service does not serve it. */
export function termsNow({ settings }: World, type: OrderType, pair: Pair): Terms | undefined {
  const terms = findTerms(type, pair);
  const change = settings.pairs[`${type} ${pairKey(type, pair)}`];
  if (!terms || change === null) return undefined;
  const { payerFrom, payerTo, ...changed } = change ?? {};
  return {
    ...terms,
    ...changed,
    feeFrom: paidBy(terms.feeFrom, payerFrom),
    feeTo: paidBy(terms.feeTo, payerTo),
  };
}

const paidBy = (fee: Fee | null, payer: Fee['payer'] | undefined): Fee | null =>
  fee && payer ? { ...fee, payer } : fee;

/** The terms of every pair as they are now. */
export const allTermsNow = (world: World): Terms[] =>
  [...TERMS.values()].flatMap((terms) => termsNow(world, terms.orderType, terms) ?? []);

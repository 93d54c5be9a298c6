import type { AuditRecord } from '../audit/audit-record.js';
import type { Approvers, CallbackConfig, Directories, Policy, ReceiverConfig } from '../config.js';
import type { Pace } from '../contract/order/activities.js';
import type { Canary } from '../contract/order/canary.js';
import type { UsedAccount } from '../contract/order/sent-to.js';
import type { Rates } from '../contract/service-objects.js';
import type { PaymentService } from '../payment-service/client.js';
import type { Limiter } from '../payment-service/limiter.js';
import type { Protections } from '../temporal/published.js';
import type { FormatChecks } from '../validation/field-errors.js';
import type { post } from './events/post-event.js';
import { invalidOrder, type KeyRefusals } from './failures.js';
import type { FirstSendsByCanary } from './order/go-first.js';
import type { GroupedLookUps } from './order/grouped-look-ups.js';
import type { PolicyDesk } from './policy/desk.js';
import type { Spacing } from './spacing.js';
import type { Stops } from './stops.js';

/** Account as activities use it. */
export interface Account extends UsedAccount {
  service: PaymentService;
  /** Groups look-ups into requests, for this key pair alone. */
  lookUps: GroupedLookUps;
  rates: SharedRates;
  /** Schedules the account's requests in this worker. */
  limiter: Limiter;
  /** Statuses of creates that the service guarantees as not executed. Default: none. */
  notExecutedStatuses?: readonly number[];
  /** Effect of rules that are ours and not the service's. Default: 'refuse'. */
  formatChecks?: FormatChecks;
  /** Deposit order that goes first while something is in doubt; absent = none does. */
  canary?: Canary;
  /** Absent before an order waits for a later one. */
  firstSends?: FirstSendsByCanary;
  /** Turns of questions of orders in doubt. */
  questions?: { acceptance: Spacing; reading: Spacing };
  /** Workflows that were told that the service refuses the key. Absent before the first refusal. */
  keyRefusals?: KeyRefusals;
  /** Absent before the first create. */
  stops?: Stops;
}

/** Dependencies that activities get from their worker. */
export interface ActivityDeps {
  accounts: ReadonlyMap<string, Account>;
  pace: Pace;
  /** Start of a restored Temporal; see protections.ts. */
  restoredAtMs?: number;
  /** Returns the time of the namespace's last failover; undefined if there was none. */
  failedOverAtMs?: () => number | undefined;
  /** Returns the current settings of the account's other workers. */
  others?: (account: string) => readonly Protections[];
  /** Throws unless the server still waits for this attempt; see order/create-attempt.ts. */
  confirmAttempt: (details: unknown) => Promise<void>;
  /** Returns why an account is stopped; see stops.ts. Absent = never. */
  readStop?: (account: string) => Promise<string | undefined>;
  /** See only-attempt.ts. Absent without required encryption, where forging needs no copy. */
  isCopied?: () => Promise<boolean>;
  /** Returns the digest of the account that took the run's last create; absent = unknown. */
  accountAtCreate?: () => Promise<string | undefined>;
  /** If absent, orders get no callback URL and are only polled. */
  callback?: CallbackConfig;
  /** Amounts (decimal strings by currency) above which an order waits for a person. */
  caps?: ReadonlyMap<string, string>;
  /** Returns this worker's time in ms since the epoch. Default: the machine's clock. */
  nowMs?: () => number | Promise<number>;
  /** Returns when the server handed out the attempt. Default: asks the server. */
  attemptStartedMs?: () => Promise<number>;
  /** Approvers by account. An account without an entry needs no signatures. */
  approvers?: ReadonlyMap<string, Approvers>;
  /** Rules by account. An account without an entry has no policy. */
  policies?: ReadonlyMap<string, Policy>;
  /** Asks for sums. */
  policyDesk?: PolicyDesk;
  /** Folders of batch files and reports. */
  directories?: Directories;
  /** Receivers of events by name; absent = no events. */
  receivers?: ReadonlyMap<string, ReceiverConfig>;
  /** Sends an event. Default: by HTTP. */
  post?: typeof post;
  /** If absent, no audit record is kept. */
  audit?: Pick<AuditRecord, 'append'>;
}

/**
 * Returns the account of an activity. Its tasks only reach its workers, so a miss is invalid input.
 */
export function accountOf(deps: Pick<ActivityDeps, 'accounts'>, name: string): Account {
  const account = deps.accounts.get(name);
  if (!account) throw invalidOrder([{ field: 'account', reason: `this worker has no account ${name}` }]);
  return account;
}

const REFRESH_AFTER_MS = 10 * 60_000;
/**
 * After a failure, the next creates skip the checks at once instead of waiting for a slow service.
 */
const RETRY_AFTER_MS = 30_000;

/** Rates of one account, shared in a worker. Without rates, payments skip the checks. */
export class SharedRates {
  #rates?: Rates;
  #validUntilMs = Number.NEGATIVE_INFINITY;
  #pending?: Promise<Rates | undefined>;

  constructor(private readonly fetch: () => Promise<Rates>) {}

  /** Returns rates of the last 10 minutes, or undefined. One request at a time. */
  current(): Promise<Rates | undefined> {
    return performance.now() < this.#validUntilMs ? Promise.resolve(this.#rates) : this.reread();
  }

  /** Reads the rates again. Concurrent calls share one request. */
  reread(): Promise<Rates | undefined> {
    this.#pending ??= this.#refresh().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #refresh(): Promise<Rates | undefined> {
    try {
      this.#rates = await this.fetch();
      this.#validUntilMs = performance.now() + REFRESH_AFTER_MS;
      return this.#rates;
    } catch {
      // A failed read keeps the rates that others still use.
      if (performance.now() < this.#validUntilMs) return undefined;
      this.#rates = undefined;
      this.#validUntilMs = performance.now() + RETRY_AFTER_MS;
      return undefined;
    }
  }
}

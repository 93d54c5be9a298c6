import type { AuditRecord } from '../audit/audit-record.js';
import type { Approvers, CallbackConfig, Directories, ReceiverConfig } from '../config.js';
import type { Pace } from '../contract/order/activities.js';
import type { UsedAccount } from '../contract/order/sent-to.js';
import type { Rates } from '../contract/service-objects.js';
import type { PaymentService } from '../payment-service/client.js';
import type { Limiter } from '../payment-service/limiter.js';
import type { Protections } from '../temporal/published.js';
import type { FormatChecks } from '../validation/field-errors.js';
import { invalidOrder, type KeyRefusals } from './failures.js';
import type { GroupedLookUps } from './order/grouped-look-ups.js';

/** One account as activities use it. */
export interface Account extends UsedAccount {
  service: PaymentService;
  /** Look-ups that one request answers together, of this pair of keys alone. */
  lookUps: GroupedLookUps;
  rates: SharedRates;
  /** The turns of its requests in this worker. */
  limiter: Limiter;
  /** Statuses of creates that the service guarantees to have executed nothing; absent = none. */
  notExecutedStatuses?: readonly number[];
  /** What becomes of rules that are ours and not the service's; absent = 'refuse'. */
  formatChecks?: FormatChecks;
  /** Who was told that the service refuses the key; absent before it did. */
  keyRefusals?: KeyRefusals;
}

/** What activities need from their worker. `protectionsIn` returns the protective settings in force. */
export interface ActivityDeps {
  accounts: ReadonlyMap<string, Account>;
  pace: Pace;
  /** Since when a restored Temporal runs; see protections.ts. */
  restoredAtMs?: number;
  /** When the namespace failed over last, as of now; absent or undefined = never. */
  failedOverAtMs?: () => number | undefined;
  /** What the account's other workers publish, as of now. */
  others?: (account: string) => readonly Protections[];
  /** Throws unless the server still waits for this very attempt; see order/create-attempt.ts. */
  confirmAttempt: (details: unknown) => Promise<void>;
  /** See only-attempt.ts. Absent where payloads may be anybody's: there an attempt need not be copied to be forged. */
  isCopied?: () => Promise<boolean>;
  /** Absent: orders get no callback URL and are followed by polling alone. */
  callback?: CallbackConfig;
  /** Above its currency's cap an order waits for a person. Decimal strings by currency. */
  caps?: ReadonlyMap<string, string>;
  /** Refuse orders that the balance does not cover. */
  checkBalance?: boolean;
  /** This worker's clock, ms since the epoch; that of the machine when omitted. */
  nowMs?: () => number | Promise<number>;
  /** Returns when the server handed out the attempt; asks the server when omitted. */
  attemptStartedMs?: () => Promise<number>;
  /** Whose signatures count, by account; an account that is not here asks for none. */
  approvers?: ReadonlyMap<string, Approvers>;
  /** Where batch files are and reports go. */
  directories?: Directories;
  /** Receivers of events by name; absent = no events. */
  receivers?: ReadonlyMap<string, ReceiverConfig>;
  /** Absent: no audit record is kept. */
  audit?: Pick<AuditRecord, 'append'>;
}

/** The account an activity works for. Tasks of an account only reach workers that serve it, so a miss is a bad input. */
export function accountOf(deps: ActivityDeps, name: string): Account {
  const account = deps.accounts.get(name);
  if (!account) throw invalidOrder([{ field: 'account', reason: `this worker has no account ${name}` }]);
  return account;
}

const REFRESH_AFTER_MS = 10 * 60_000;
/** After a failure the next creates skip the checks at once instead of each waiting for a service that is slow. */
const RETRY_AFTER_MS = 30_000;

/** The rates of one account, shared by a worker. Payments do not depend on them: without any, checks are skipped. */
export class SharedRates {
  #rates?: Rates;
  #validUntilMs = Number.NEGATIVE_INFINITY;
  #pending?: Promise<Rates | undefined>;

  constructor(private readonly fetch: () => Promise<Rates>) {}

  /** Returns rates not older than 10 minutes, or undefined; one call at a time. */
  current(): Promise<Rates | undefined> {
    return performance.now() < this.#validUntilMs ? Promise.resolve(this.#rates) : this.reread();
  }

  /** Reads the rates again, for what depends on how they stand now; calls at the same time share one request. */
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
      // A failed reread does not take away the rates that others still use.
      if (performance.now() < this.#validUntilMs) return undefined;
      this.#rates = undefined;
      this.#validUntilMs = performance.now() + RETRY_AFTER_MS;
      return undefined;
    }
  }
}

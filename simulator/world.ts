import type { Finding } from '../chaos/evidence/evidence.js';
import { underFire } from '../chaos/faults.js';
import type { PlannedOrder } from '../chaos/inputs.js';
import type { Looked } from '../chaos/operator.js';
import { DEFAULT_SETTINGS } from '../sandbox/options.js';
import type { AuditEntry } from '../src/audit/audit-record.js';
import { ConflictError } from '../src/client/errors.js';
import { PaymentOrders } from '../src/client.js';
import { type AccountConfig, Secret, type WorkerConfig } from '../src/config.js';
import { decimal, toAmount } from '../src/contract/money.js';
import {
  accountStopWorkflowId,
  DEFAULT_ACCOUNT,
  orderWorkflowId,
  POLICY_WORKFLOW,
  parseAfterEndWorkflowId,
  STOP_MEMO,
} from '../src/contract/names.js';
import { openAccounts } from '../src/worker/accounts.js';
import type { Clock } from './clock.js';
import { Engine } from './engine/engine.js';
import { restore } from './engine/restore.js';
import type { Run } from './engine/run.js';
import type { WorkflowSandbox } from './engine/sandbox.js';
import { Process } from './process.js';
import { Random } from './random.js';
import { Receivers } from './receivers.js';
import { allBalances, CALLBACK, openService, setAll } from './service.js';
import { startWorker } from './worker.js';

/** How long new orders may stay invisible: well within the settle window. */
const LAG_MS = 60_000;

/** Whoever replaces workers stops the old one, once it answers again. */
const STOPPED_AFTER_MS = 60_000;

/** After Temporal forgot something. */
const START_AGAIN_WITHIN_MS = 5 * 60_000;

/** The product's own pace, and `ORDER_SETTLE_WINDOW=10m` for deposits, too: this service shows nothing for minutes. */
const PACE = {
  ...{ pollInitialMs: 5_000, pollMaxMs: 300_000, confirmDelayMs: 600_000 },
  settleWindowMs: { atOnce: 600_000, deposit: 600_000 },
};

/** Product, service and Temporal of one seed, on one clock. */
export class World {
  readonly random: Random;
  readonly engine: Engine;
  readonly service: ReturnType<typeof openService>;
  readonly receivers: Receivers;
  readonly orders: PaymentOrders;
  readonly workers: Process[] = [];
  /** Orders whose start was acknowledged, by id. */
  readonly accepted = new Map<string, PlannedOrder>();
  /** Balances at the start, and what was paid in since. */
  readonly paidIn: Record<string, string>;
  /** Orders of batches that ended, and were not stopped. */
  readonly ofBatches = new Set<string>();
  /** What callers start again once Temporal forgot something, besides single orders. */
  readonly startedAgain: (() => Promise<void>)[] = [];
  /** Ids under which two callers start different orders. */
  readonly contested = new Set<string>();
  /** Lines of the audit record, which no worker of this world loses. */
  readonly audit: { entry: AuditEntry; atMs: number }[] = [];
  /** Names of the acts that the seed drew. */
  readonly acts: string[] = [];
  /** When the account was stopped, from the answer to the request of a resume. */
  readonly stops: { fromMs: number; toMs?: number }[] = [];
  /** Highest sums of a day, by currency, that orders may move without a person. */
  readonly limits = new Map<string, string>();
  /** When Temporal forgot something. */
  readonly forgotMs: number[] = [];
  /** What is looked at once all has ended. */
  readonly lastLooks: (() => Promise<Finding[]>)[] = [];
  /** What these found. */
  readonly seenLast: Finding[] = [];
  /** What is done once the story was judged. */
  readonly atEnd: (() => void)[] = [];
  /** What differs in the settings of each worker that starts. */
  readonly changes: ((config: WorkerConfig) => WorkerConfig)[] = [];
  /** Workers that start have the key of another merchant. */
  isElsewhere = false;
  /** How far the clock of each worker that starts is off, in ms. */
  clockOffMs: () => number = () => 0;
  /** What happened, for people: virtual time and words. */
  readonly story: { atMs: number; text: string }[] = [];
  readonly #processes: Process[] = [];
  #config: WorkerConfig;

  constructor(
    readonly seed: number,
    readonly clock: Clock,
    sandbox: WorkflowSandbox,
    executesTwice = false,
  ) {
    this.random = new Random(seed);
    this.engine = new Engine(sandbox, this.random, (line) => this.say(line));
    const settings = { ...underFire(String(seed)), visibilityLagMs: LAG_MS };
    this.service = openService(this.engine, this.random, { seed: String(seed), settings }, executesTwice);
    this.receivers = new Receivers(this.random);
    this.orders = new PaymentOrders(this.engine.client);
    this.paidIn = allBalances(this.service);
    const account = { name: DEFAULT_ACCOUNT, baseUrl: 'http://service.example', signer: 'hmac-sha256' };
    this.#config = {
      ...{ pace: PACE, callback: CALLBACK },
      accounts: new Map([[DEFAULT_ACCOUNT, { ...account, ...this.#keys() }]]),
    };
    this.changeAccount((one) => (this.isElsewhere ? { ...one, ...this.#keys() } : one));
  }

  say(line: string): void {
    this.story.push({ atMs: Date.now(), text: `${shownTime(this.clock.elapsedMs())} ${line}` });
  }

  /** What a person knows who looks at both accounts, and asks who started what. */
  looked(): Required<Looked> {
    const isRight = !this.isElsewhere;
    const isElsewhere = (orderId: string): boolean => {
      const [own, other] = this.service.doubles.map(({ admin }) =>
        admin.orders().some(({ order }) => order.user_order_id === orderId),
      );
      return isRight && other === true && !own;
    };
    return { isRight, isElsewhere, isContested: (orderId) => this.contested.has(orderId) };
  }

  /** The keys of the account that a worker has which starts now. */
  #keys(): { apiKey: Secret; apiSecret: Secret } {
    const [own, other = own] = this.service.doubles;
    const { apiKey = '', apiSecret = '' } = (this.isElsewhere ? other : own)?.world.options ?? {};
    return { apiKey: new Secret(apiKey), apiSecret: new Secret(apiSecret) };
  }

  /** Each worker that starts has other settings of its account. */
  changeAccount(change: (account: AccountConfig) => AccountConfig): void {
    this.changes.push((config) => {
      const accounts = [...config.accounts].map(([name, account]) => [name, change(account)] as const);
      return { ...config, accounts: new Map(accounts) };
    });
  }

  startWorkers(): void {
    for (let left = 2; left > 0; left -= 1) setTimeout(() => void this.startWorker(), 0);
  }

  async startWorker(): Promise<void> {
    const audit = { append: async (entry: AuditEntry) => void this.audit.push({ entry, atMs: Date.now() }) };
    const process = new Process(`worker ${this.#processes.length + 1}`);
    const config = this.changes.reduce((changed, change) => change(changed), this.#config);
    const offMs = this.clockOffMs();
    const live = { audit, nowMs: () => Date.now() + offMs, post: this.receivers.postOf(process) };
    const accounts = await openAccounts(config.accounts, this.service.transportOf(process));
    await startWorker(this.engine, config, accounts, process, live);
    this.#processes.push(process);
    this.workers.push(process);
  }

  /** A worker that was replaced stands still for a time, and ends a while after it goes on. */
  standStill(worker: Process, ms: number): void {
    worker.freeze();
    setTimeout(() => worker.thaw(), ms);
    setTimeout(() => worker.kill(), ms + STOPPED_AFTER_MS);
  }

  /** All workers end, and others take their place. */
  restartWorkers(): void {
    for (const one of this.workers.splice(0)) one.kill();
    this.startWorkers();
  }

  /** All workers end, and Temporal comes back without its last time. Those that start now are told so. */
  restore(lostMs: number): void {
    this.say(`Temporal is restored to what it was ${Math.round(lostMs / 1_000)} s before`);
    for (const one of this.#processes) one.kill();
    this.workers.length = 0;
    this.#forget(lostMs);
    this.#config = { ...this.#config, restoredAtMs: Date.now() };
  }

  /** Another cluster takes the namespace over, and lacks the last time. Workers go on. Does nothing to a local one. */
  failOver(lostMs: number): void {
    if (!this.engine.failovers) return;
    this.say(`the namespace fails over and lacks ${Math.round(lostMs / 1_000)} s`);
    this.engine.failovers.push(Date.now());
    this.#forget(lostMs);
  }

  /** Callers start again what they had started. */
  #forget(lostMs: number): void {
    const orders = [...this.accepted.values()].map((one) => () => this.start(one));
    for (const start of [...orders, ...this.startedAgain])
      setTimeout(() => void start(), this.random.between(0, START_AGAIN_WITHIN_MS));
    restore(this.engine, Date.now() - lostMs);
    this.forgotMs.push(Date.now());
    // A resume that is forgotten leaves the account stopped.
    const stop = this.engine.newest(accountStopWorkflowId(DEFAULT_ACCOUNT));
    if (stop?.isOpen && stop.memo[STOP_MEMO]) this.stops.push({ fromMs: Date.now() });
  }

  /** Starts an order and says so. Only what two callers start under one id may be refused. */
  async start(planned: PlannedOrder, options: { again?: boolean } = {}): Promise<void> {
    const { orderId, type, input } = planned;
    // Nobody knows of an order that Temporal forgot while the service hides all: docs/plan.md.
    const workflowId = orderWorkflowId(DEFAULT_ACCOUNT, orderId);
    const isForgotten = this.engine.retired.has(workflowId) && !this.engine.newest(workflowId);
    if (isForgotten && this.acts.includes('spells')) return;
    this.say(`${orderId} starts: ${type}${options.again ? ' (again)' : ''}`);
    try {
      await this.orders.start(type, input, options);
      this.accepted.set(orderId, planned);
    } catch (error) {
      if (!(error instanceof ConflictError && this.contested.has(orderId))) throw error;
    }
  }

  /** Somebody pays in; with `isAll` nothing else is there. */
  payIn(currency: string, amount: string, isAll = false): void {
    this.say(`${amount} ${currency} ${isAll ? 'is all there is' : 'is paid in'}`);
    const { admin } = this.service.double;
    const before = decimal(admin.ledger()[currency] ?? '0');
    const after = isAll ? decimal(amount) : before.plus(decimal(amount));
    admin.set({ balances: { [currency]: toAmount(after) } });
    this.paidIn[currency] = toAmount(decimal(this.paidIn[currency] ?? '0').plus(after.minus(before)));
  }

  /** From now on the service does what it says. */
  heal(): void {
    this.say('the service is well again');
    const { faults, outcomes, callbacks, visibilityLagMs } = DEFAULT_SETTINGS;
    setAll(this.service, { faults, outcomes, callbacks, visibilityLagMs });
  }

  /** Workflows that are open, but for sums and look-ups after an end that ask a person, whom nothing makes hurry. */
  open(): Run[] {
    const newest = [...this.engine.runs.values()].flatMap((runs) => runs.at(-1) ?? []);
    return newest.filter((run) => run.isOpen && !mayStayOpen(run));
  }
}

const mayStayOpen = (run: Run): boolean =>
  run.start.type === POLICY_WORKFLOW || (isAfterEnd(run) && run.searchAttributes.PaymentAttentionReason !== undefined);

const isAfterEnd = ({ workflowId }: Run): boolean => parseAfterEndWorkflowId(workflowId) !== undefined;

/** A virtual time as `h:mm:ss.mmm`. */
export function shownTime(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const two = (value: number) => String(value).padStart(2, '0');
  const rest = String(Math.floor(ms % 1_000)).padStart(3, '0');
  return `${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${rest}`;
}

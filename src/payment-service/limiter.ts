import { NotSentError } from './errors.js';

/**
 * Purpose of a request. A scan is a long series of look-ups without a waiting caller; a read is one
 * for a caller, who may ask often.
 */
export type RequestKind = 'create' | 'look-up' | 'scan' | 'read';

/** Default priority. Lower numbers go first, as in Temporal's queues. */
const NORMAL_PRIORITY = 3;

/** Maximum delay that later turns make up for. More would send a burst after a busy period. */
const CATCH_UP_MS = 50;

/**
 * A scan gets at most every tenth turn, and waits at most this many turns. So does a read while
 * creates and look-ups wait; otherwise it gets every turn.
 */
const TURNS_PER_SCAN = 10;

/** Seconds of the limit whose creates are awake at once. One request probes for all of them. */
const WAVE_S = 1.5;
/** The next wave wakes when this much of the current wave is left. */
const WAVE_LEFT_S = 0.2;

/** Recovery time of the rate, which a 429 halves. */
const RECOVERY_MS = 30_000;
const LEAST_FACTOR = 1 / 16;

/** Maximum wait for a turn, so that the server does not time the attempt out before its request. */
const LONGEST_WAIT_MS = 15_000;

/** Reason of a request without a turn in time. It says nothing about the service. */
export const NO_TURN = 'the limit left no turn in time';

/** Options of a wait for a turn. */
interface TurnOptions {
  priority?: number | undefined;
  /** Cancels the wait. */
  signal?: AbortSignal | undefined;
}

interface Waiting {
  kind: RequestKind;
  priority: number;
  /** Time (performance.now) after which the turn is useless. */
  usefulUntilMs: number;
  settle: (granted: boolean) => void;
}

/**
 * Schedules the requests of one account in this process: evenly spaced, look-ups and creates in
 * turn, a tenth for scans and a tenth for callers' reads. Without a rate, only a 429 delays them.
 */
export class Limiter {
  #rate: number | undefined;
  #nextAtMs = 0;
  #lastAtMs = performance.now();
  #nextScanAtMs = 0;
  #nextReadAtMs = 0;
  #last: RequestKind = 'look-up';
  #timer: NodeJS.Timeout | undefined;
  #waiting: Waiting[] = [];
  #places = new Set<Place>();
  #slowed = { factor: 1, fromMs: 0 };
  /** Called after a 429, once for answers that arrived together. */
  onSlowDown: (retryAfterMs: number) => void = () => undefined;

  constructor(requestsPerSecond?: number) {
    this.#rate = requestsPerSecond;
  }

  /** Sets the limit in requests per second; undefined removes it. */
  setRate(requestsPerSecond: number | undefined): void {
    if (requestsPerSecond === this.#rate) return;
    this.#rate = requestsPerSecond;
    this.#nextAtMs = Math.max(this.#lastAtMs + this.intervalMs, this.#slowed.fromMs);
    this.wake();
    this.#run();
  }

  /** Pauses after a 429 as long as the service asks. Then the rate is halved and recovers. */
  slowDown(retryAfterMs: number): void {
    const nowMs = performance.now();
    // Answers to requests that were in flight together count once.
    const isNew = nowMs >= this.#slowed.fromMs;
    const factor = isNew ? Math.max(LEAST_FACTOR, this.#factor(nowMs) / 2) : this.#slowed.factor;
    this.#slowed = { factor, fromMs: Math.max(this.#slowed.fromMs, nowMs + retryAfterMs) };
    this.#nextAtMs = Math.max(this.#nextAtMs, this.#slowed.fromMs);
    if (isNew) this.onSlowDown(retryAfterMs);
    this.#run();
  }

  /** Waits for one turn. Throws NotSentError if the caller cancels or the turn is too far. */
  async turn(kind: RequestKind, options: TurnOptions = {}): Promise<void> {
    const usefulUntilMs = kind === 'scan' ? Number.POSITIVE_INFINITY : performance.now() + LONGEST_WAIT_MS;
    if (!(await this.ask(kind, options, usefulUntilMs))) throw new NotSentError(NO_TURN);
  }

  /**
   * Returns a place among the creates, which probes when its turn is near. Call `leave` when done.
   */
  place(options: TurnOptions = {}): Place {
    const place = new Place(this, options);
    this.#places.add(place);
    this.wake();
    return place;
  }

  /** Waits as `turn` does. Returns false, without spending a turn, if none comes in time. */
  ask(kind: RequestKind, options: TurnOptions, usefulUntilMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const { priority = NORMAL_PRIORITY, signal } = options;
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(new NotSentError('aborted'));
      };
      const settle = (granted: boolean) => {
        signal?.removeEventListener('abort', abort);
        resolve(granted);
      };
      const waiting: Waiting = { kind, priority, usefulUntilMs, settle };
      if (signal?.aborted) {
        abort();
        return;
      }
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiting);
      this.#run();
    });
  }

  /** Creates wait for their turn here. */
  get isCreating(): boolean {
    return this.#places.size > 0;
  }

  /** Number of requests that wait for a turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Current time between two turns in ms; 0 without a limit. */
  get intervalMs(): number {
    return this.#rate === undefined ? 0 : 1_000 / (this.#rate * this.#factor(performance.now()));
  }

  /** Removes a place after its send or its cancellation. */
  leave(place: Place): void {
    if (this.#places.delete(place)) this.wake();
  }

  /** Wakes places in waves, so that one request can probe for many. Single orders go first. */
  wake(): void {
    const perSecond = 1_000 / this.intervalMs;
    const asleep = [...this.#places].filter(({ awake }) => !awake).sort((one, other) => one.priority - other.priority);
    const [first] = asleep;
    if (!first) return;
    const awake = [...this.#places].filter((place) => place.awake);
    const ahead = awake.filter(({ priority }) => priority <= first.priority).length;
    if (ahead > Math.round(perSecond * WAVE_LEFT_S)) return;
    const wave = Math.max(1, Math.round(perSecond * WAVE_S) - ahead);
    for (const place of asleep.slice(0, wave)) place.wakeUp();
  }

  /** Returns the share of the rate in use, which rises to 1 after a slow-down. */
  #factor(nowMs: number): number {
    const { factor, fromMs } = this.#slowed;
    return Math.min(1, factor + (1 - factor) * Math.max(0, (nowMs - fromMs) / RECOVERY_MS));
  }

  #run(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (let nowMs = performance.now(); this.#waiting.length > 0; nowMs = performance.now()) {
      this.#dropUseless(nowMs);
      const next = nowMs >= this.#nextAtMs ? this.#next(nowMs) : undefined;
      if (!next) {
        this.#runAt(nowMs);
        return;
      }
      this.#waiting = this.#waiting.filter((waiting) => waiting !== next);
      this.#spend(next.kind, nowMs);
      next.settle(true);
    }
  }

  #dropUseless(nowMs: number): void {
    const earliestMs = Math.max(nowMs, this.#nextAtMs);
    const useless = this.#waiting.filter(({ usefulUntilMs }) => usefulUntilMs < earliestMs);
    if (useless.length === 0) return;
    this.#waiting = this.#waiting.filter((waiting) => !useless.includes(waiting));
    for (const { settle } of useless) settle(false);
  }

  #runAt(nowMs: number): void {
    if (this.#waiting.length === 0) return;
    const onlyScans = this.#waiting.every(({ kind }) => kind === 'scan');
    const atMs = onlyScans ? Math.max(this.#nextAtMs, this.#nextScanAtMs) : this.#nextAtMs;
    this.#timer = setTimeout(() => this.#run(), Math.max(1, Math.ceil(atMs - nowMs)));
  }

  #spend(kind: RequestKind, nowMs: number): void {
    const { intervalMs } = this;
    this.#lastAtMs = nowMs;
    this.#nextAtMs = Math.max(this.#nextAtMs + intervalMs, nowMs + intervalMs - CATCH_UP_MS);
    if (kind === 'scan') this.#nextScanAtMs = nowMs + intervalMs * TURNS_PER_SCAN;
    else if (kind === 'read') this.#nextReadAtMs = nowMs + intervalMs * TURNS_PER_SCAN;
    else this.#last = kind;
  }

  #next(nowMs: number): Waiting | undefined {
    const byPriority = this.#waiting.toSorted((one, other) => one.priority - other.priority);
    const first = (kind: RequestKind) => byPriority.find((waiting) => waiting.kind === kind);
    const scan = nowMs >= this.#nextScanAtMs ? first('scan') : undefined;
    const [create, lookUp] = [first('create'), first('look-up')];
    const read = first('read');
    const ours = this.#last === 'create' ? (lookUp ?? create) : (create ?? lookUp);
    return scan ?? (nowMs >= this.#nextReadAtMs ? (read ?? ours) : (ours ?? read));
  }
}

/** Place of one create among those of its account: it wakes, probes and takes its turn. */
class Place {
  readonly priority: number;
  #wake: () => void = () => undefined;
  #woken = Promise.resolve();
  awake = false;

  constructor(
    private readonly limiter: Limiter,
    private readonly options: TurnOptions,
  ) {
    this.priority = options.priority ?? NORMAL_PRIORITY;
    this.#sleep();
  }

  #sleep(): void {
    this.awake = false;
    this.#woken = new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  wakeUp(): void {
    this.awake = true;
    this.#wake();
  }

  /** Waits until the turn is near. Returns true if it waited; throws NotSentError if cancelled. */
  async near(): Promise<boolean> {
    if (this.awake) return false;
    const { signal } = this.options;
    signal?.addEventListener('abort', this.#wake, { once: true });
    if (!signal?.aborted) await this.#woken;
    if (signal?.aborted) throw new NotSentError('aborted');
    return true;
  }

  /** Waits for the turn. Returns false if it came too late; the place then wakes again. */
  async take(usefulUntilMs?: number): Promise<boolean> {
    if (await this.limiter.ask('create', this.options, usefulUntilMs)) return true;
    this.#sleep();
    this.limiter.wake();
    return false;
  }

  leave(): void {
    this.limiter.leave(this);
  }
}

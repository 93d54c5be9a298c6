import { AHEAD_OF_UTC_MS, dateTimeMs, serviceTime, ZONE_SLACK_MS } from '../../contract/reconcile/input.js';

const SECOND_MS = 1_000;
/** Each zone is a multiple of it ahead of UTC. */
const QUARTER_MS = 900_000;
/** Maximum difference between clocks of one zone. */
const SKEW_MS = 300_000;
/** Zones change at night: an earlier date may be of winter or summer time. */
const SAME_ZONE_MS = 20 * 3_600_000;

/** How far the service's clock has come towards a time, by its dates, which name no zone. */
export class ServiceClock {
  readonly #nowMs = Date.now();
  /** The clock is at least so far ahead of UTC. */
  #aheadMs = AHEAD_OF_UTC_MS - ZONE_SLACK_MS;
  #latestMs = Number.NEGATIVE_INFINITY;

  /** `toMs`: time by the service's clock. */
  constructor(private readonly toMs: number) {}

  /** Records a date that the service had written by `byMs`. */
  record(date: string | null, byMs: number): void {
    const ms = dateTimeMs(date ?? '');
    if (ms === undefined || ms > byMs + AHEAD_OF_UTC_MS) return;
    this.#latestMs = Math.max(this.#latestMs, ms);
    if (ms < this.toMs - SAME_ZONE_MS) return;
    const aheadMs = Math.ceil((ms - byMs - SKEW_MS) / QUARTER_MS) * QUARTER_MS;
    this.#aheadMs = Math.max(this.#aheadMs, aheadMs);
  }

  /** Returns true if the clock had passed the time when the first date was read. */
  hasPassed = (): boolean => this.#nowMs + this.#aheadMs >= this.toMs;

  /** Returns the time after the latest date, but not after `toMs`. */
  reached(fromMs: number): string {
    return serviceTime(Math.min(this.toMs, Math.max(fromMs, this.#latestMs + SECOND_MS)));
  }
}

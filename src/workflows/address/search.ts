import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { DepositAddressInput, FoundAddress } from '../../contract/address/address.js';
import { searchAttribute } from '../../contract/names.js';
import { ATTENTION_AFTER_MS } from '../../contract/order/messages.js';
import { unservedFor } from '../ask/until-served.js';
import { show } from '../attention.js';
import { readOnly, SEND_TIMEOUT_MS } from '../profiles.js';
import { answersWithin } from '../watch.js';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

/** Absent this often, this far apart, proves that an uncertain create made nothing: 15 s in all. */
const ABSENCE_READINGS = 3;
const BETWEEN_READINGS_MS = 7.5 * SECOND_MS;

/** Quick rounds in which nothing could be sent; afterwards a person is told and the rounds become rare. */
const QUICK_ROUNDS = 50;

/** Everything one run of `depositAddress` knows. */
export interface AddressRun {
  readonly account: string;
  readonly input: DepositAddressInput;
  /** Attempts that could not send. */
  rounds: number;
  /** Why a person should look. */
  attention?: string;
}

/**
 * Reads the address list until it gives a clear answer, however long that takes; null = not there. The wait before it lies
 * inside the look-up, which the server repeats: it writes no history.
 */
export async function findAddress(run: AddressRun, summary: string, delayMs = 0): Promise<FoundAddress | null> {
  const { account, input } = run;
  const { findAddress: ask } = proxyActivities<Activities>({ ...readOnly(account), summary });
  const pending = ask({ account, input, ...(delayMs > 0 && { delayMs }) });
  if (!(await answersWithin(pending, delayMs + ATTENTION_AFTER_MS))) {
    askForPerson(run, 'the service gives no clear answer about this address; it is asked again until it does');
  }
  return pending;
}

/** After a create that may have been executed. null = its absence is proven. */
export async function settleAddress(run: AddressRun, attemptMayLive: boolean): Promise<FoundAddress | null> {
  const summary = 'Uncertain create: is it there?';
  let found = await findAddress(run, summary, attemptMayLive ? SEND_TIMEOUT_MS : 0);
  for (let reading = 1; !found && reading < ABSENCE_READINGS; reading += 1) {
    found = await findAddress(run, summary, BETWEEN_READINGS_MS);
  }
  return found;
}

/** After an attempt that sent nothing, or was answered "too many requests": waits, at last for a day, so that a run may wait for years. null = try again. */
export function waitToCreate(run: AddressRun, reason: string, retryAfterMs?: number): Promise<FoundAddress | null> {
  run.rounds += 1;
  const rareRounds = run.rounds - QUICK_ROUNDS;
  if (rareRounds >= 0)
    askForPerson(run, `there is no address yet: ${reason} (${run.rounds} rounds); it is tried on, rarely`);
  const quickMs = retryAfterMs ?? Math.min(60 * SECOND_MS, 500 * 2 ** run.rounds);
  const delayMs = rareRounds < 0 ? quickMs : Math.min(DAY_MS, HOUR_MS * 2 ** rareRounds);
  return findAddress(run, `To be sent again: ${reason}`, delayMs);
}

/** Asks for a person; the run goes on by itself. */
export function askForPerson(run: AddressRun, reason: string): void {
  run.attention = reason;
  showAddress(run);
}

/** No worker takes the create; returns what takes this back. */
export function tellUnserved(run: AddressRun): () => void {
  const reason = `${unservedFor(run.account)}; start one, or cancel this run if the account is the wrong one`;
  askForPerson(run, reason);
  return () => {
    if (run.attention === reason) clearAttention(run);
  };
}

/** Nobody needs to look any more. */
export function clearAttention(run: AddressRun): void {
  if (!run.attention) return;
  run.attention = undefined;
  showAddress(run);
}

function showAddress({ account, attention }: AddressRun): void {
  show(attention ? `**Needs attention**: ${attention}` : '', [
    { key: searchAttribute.account, value: account },
    { key: searchAttribute.needsAttention, value: attention !== undefined },
  ]);
}

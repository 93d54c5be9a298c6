import {
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  setCurrentDetails,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type {
  CreateAddressAnswer,
  DepositAddressInput,
  DepositAddressResult,
  FoundAddress,
} from '../contract/address/address.js';
import type { AttentionCode } from '../contract/attention.js';
import { ADDRESS_ABSENT, KEY_REFUSED, SERVICE_REJECTED, statusText } from '../contract/failures.js';
import { searchAttribute } from '../contract/names.js';
import { SEND_TIMEOUT_MS } from '../contract/order/activities.js';
import { ATTENTION_AFTER_MS } from '../contract/order/messages.js';
import { ALARM, answersWithin, failureOf, moneyMoving, readOnly, watch } from './activity-calls.js';
import { turnText, unservedFor, untilTaken, whySilent } from './ask/silence.js';
import { checkAddress } from './identity.js';
import { isForeign } from './interceptors.js';
import { attentionAttributes, inert, show } from './show.js';

/** Creates of one reference that may have reached the service. */
const SENDS = 2;

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

/** Readings that prove absence, over 15 s in all. */
const ABSENCE_READINGS = 3;
const BETWEEN_READINGS_MS = 7.5 * SECOND_MS;

/** Rounds without a send, after which attention is raised and rounds become rare. */
const QUICK_ROUNDS = 50;

type AddressAttention = { code: AttentionCode; reason: string };

interface AddressRun {
  readonly account: string;
  readonly input: DepositAddressInput;
  /** Attempts that could not send. */
  rounds: number;
  /** Why a person should look. */
  attention?: AddressAttention;
}

export async function depositAddress(input: DepositAddressInput): Promise<DepositAddressResult> {
  const run: AddressRun = { account: checkAddress(input), input, rounds: 0 };
  const result = await createOrFind(run).finally(() => tell(run, undefined));
  if (result.others) {
    // Every such address still receives, so nothing is lost.
    const reason = `the service has more addresses with this reference: ${result.others.join(', ')}`;
    tell(run, { code: 'more-addresses', reason });
  }
  return result;
}

async function createOrFind(run: AddressRun): Promise<DepositAddressResult> {
  const { account, input } = run;
  const options = { ...moneyMoving(account), summary: 'Search, then create' };
  const reason = `${unservedFor(account)}. Start a worker, or cancel this run if the account name is wrong`;
  const unserved: AddressAttention = { code: 'account-not-served', reason };
  let sends = 0;
  let maySent = false;
  // A reset run searches first: an earlier run may have a create in flight.
  let knownRun = workflowInfo().originalExecutionRunId;
  for (;;) {
    const answer = await untilTaken(
      account,
      options,
      ({ createAddress }) => createAddress({ account, input, knownRun }),
      (turn) => {
        if (turn) {
          setCurrentDetails(`waiting for ${turnText(account, turn)}`);
          return () => setCurrentDetails('');
        }
        tell(run, unserved);
        return () => run.attention === unserved && tell(run, undefined);
      },
    ).catch(uncertainUnlessInvalid);
    if (answer.kind === 'created' || answer.kind === 'found') {
      const { kind, ...found } = answer;
      return { ...found, adopted: kind === 'found' };
    }
    maySent ||= answer.kind === 'uncertain';
    // "Too many requests" never counts as a send.
    if (answer.kind === 'uncertain' && answer.resetRun) knownRun = answer.resetRun;
    else if (answer.kind === 'uncertain' && answer.retryAfterMs === undefined) sends += 1;
    const found = await findAfter(run, answer, maySent);
    if (found) return { ...found, adopted: true };
    if (answer.kind === 'rejected') {
      const answered = statusText(400, answer.excerpt);
      const message = `the service refused the address (${answered}) and shows none with this reference; check its fields`;
      throw ApplicationFailure.nonRetryable(message, SERVICE_REJECTED);
    }
    if (answer.kind === 'uncertain' && sends >= SENDS) {
      throw ApplicationFailure.nonRetryable('the service shows no such address after two creates', ADDRESS_ABSENT);
    }
  }
}

/** Reads the list after each attempt without an address. null = no address. */
async function findAfter(
  run: AddressRun,
  answer: Exclude<CreateAddressAnswer, { kind: 'created' | 'found' }>,
  maySent: boolean,
): Promise<FoundAddress | null> {
  switch (answer.kind) {
    case 'uncertain': {
      const { reason, retryAfterMs } = answer;
      const found = retryAfterMs === undefined ? null : await waitToCreate(run, reason, retryAfterMs);
      return found ?? resolveAddress(run, answer.timedOut ?? false);
    }
    case 'notSent':
      if (answer.stopped) return untilResumed(run, answer.reason);
      return waitToCreate(run, answer.reason, answer.retryAfterMs);
    case 'rejected':
      return maySent ? resolveAddress(run, false) : findAddress(run, 'Refused: is it there?');
  }
}

/** Waits until the account is resumed, without attention. null = try again. */
async function untilResumed({ account }: AddressRun, why: string): Promise<null> {
  setCurrentDetails(`waiting: ${inert(why)}`);
  const summary = 'The account is stopped: until it is resumed';
  await proxyActivities<Activities>({ ...readOnly(account), summary }).awaitResume({ account });
  setCurrentDetails('');
  return null;
}

/** A create without an answer may have made the address; bad input made none. */
function uncertainUnlessInvalid(error: unknown): CreateAddressAnswer {
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure && cause.nonRetryable) throw cause;
  const reason = 'the create attempt ended without an answer';
  return {
    kind: 'uncertain',
    reason,
    ...((cause instanceof TimeoutFailure || isForeign(error)) && { timedOut: true }),
  };
}

/** Reads the address list until it answers. null = no address. */
async function findAddress(run: AddressRun, summary: string, delayMs = 0): Promise<FoundAddress | null> {
  const { account, input } = run;
  const { findAddress: ask } = proxyActivities<Activities>({ ...readOnly(account), summary });
  const pending = ask({ account, input, ...(delayMs > 0 && { delayMs }) });
  try {
    if (!(await answersWithin(pending, delayMs + ATTENTION_AFTER_MS, ALARM))) {
      await Promise.race([pending, tellSilent(run, watch(pending))]);
    }
    const found = await pending;
    if (run.attention?.reason.startsWith(UNCLEAR)) tell(run, undefined);
    return found;
  } catch (error) {
    const refused = failureOf(error);
    if (refused?.type !== KEY_REFUSED) throw error;
    // Each repetition costs history.
    if (run.attention?.code === 'key-refused') await sleep('1m', { summary: 'The key was refused again' });
    tell(run, { code: 'key-refused', reason: `${UNCLEAR} (${refused.message.slice(0, 300)})` });
    return findAddress(run, summary);
  }
}

const UNCLEAR = 'the service gives no clear answer about this address; it is asked again until it does';

async function tellSilent(run: AddressRun, isOver: () => boolean): Promise<void> {
  const { code, said } = await whySilent({ account: run.account });
  if (!isOver()) tell(run, { code, reason: said ? `${UNCLEAR} (${said})` : UNCLEAR });
}

/** Reads absence after a possible create. null = proven absent. */
async function resolveAddress(run: AddressRun, attemptMayLive: boolean): Promise<FoundAddress | null> {
  const summary = 'Uncertain create: is it there?';
  let found = await findAddress(run, summary, attemptMayLive ? SEND_TIMEOUT_MS : 0);
  for (let reading = 1; !found && reading < ABSENCE_READINGS; reading += 1) {
    found = await findAddress(run, summary, BETWEEN_READINGS_MS);
  }
  return found;
}

/** Waits after an attempt that sent nothing, at last for a day. null = try again. */
function waitToCreate(run: AddressRun, reason: string, retryAfterMs?: number): Promise<FoundAddress | null> {
  run.rounds += 1;
  const rareRounds = run.rounds - QUICK_ROUNDS;
  const yet = `there is no address yet: ${reason} (${run.rounds} rounds); it is tried again, rarely`;
  if (rareRounds >= 0) tell(run, { code: 'no-address', reason: yet });
  const quickMs = retryAfterMs ?? Math.min(60 * SECOND_MS, 500 * 2 ** run.rounds);
  const delayMs = rareRounds < 0 ? quickMs : Math.min(DAY_MS, HOUR_MS * 2 ** rareRounds);
  return findAddress(run, `To be sent again: ${reason}`, delayMs);
}

function tell(run: AddressRun, attention: AddressAttention | undefined): void {
  if (run.attention?.reason === attention?.reason) return;
  run.attention = attention;
  show(attention ? `**Needs attention**: ${attention.reason}` : '', [
    { key: searchAttribute.account, value: run.account },
    ...attentionAttributes(attention?.code),
  ]);
}

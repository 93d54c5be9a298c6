import type { BatchInput } from '../batch/batch.js';
import { DEFAULT_ACCOUNT } from '../names.js';
import type { RunInput } from '../order/input-and-result.js';
import type { OrderType } from '../order/types.js';
import { canonicalWallet } from '../wallets.js';
import { echoDifferences } from './echo.js';
import { differences, sameValue } from './likeness.js';

/** A target of money, or what stands in its place, with its wallets in their one form. It may never have been validated. */
function inOneForm(target: unknown): unknown {
  if (typeof target !== 'object' || target === null || Array.isArray(target)) return target;
  const {
    network_to: networkTo,
    network = networkTo,
    wallet,
    wallet_details: details,
  } = target as Record<string, unknown>;
  const written = (on: unknown, value: unknown) =>
    typeof value === 'string' ? canonicalWallet(typeof on === 'string' ? on : undefined, value) : value;
  const card = (part: unknown) =>
    typeof part === 'object' && part !== null && 'wallet' in part
      ? { ...part, wallet: written('card', part.wallet) }
      : part;
  return {
    ...target,
    ...(wallet !== undefined && { wallet: written(network, wallet) }),
    ...(Array.isArray(details) && { wallet_details: details.map(card) }),
  };
}

/** What a start asks for, with the defaults filled in; the batch it came from is not part of it. */
function wantedOrder(input: Partial<RunInput> | null | undefined): Record<string, unknown> {
  return {
    account: input?.account ?? DEFAULT_ACCOUNT,
    order: inOneForm(input?.order),
    compensation: input?.compensation,
    revertTo: inOneForm(input?.revertTo),
    resend: input?.resend ?? 'once',
    latestSend: input?.latestSend,
  };
}

/** How a start names the field; the type of an order is no field of its request. */
const pathOf = (field: string): string => (field === 'order_type' ? field : `order.${field}`);

/**
 * Returns the fields in which a start differs from the run that has its order id; [] = it may attach. `run` may never
 * have been validated.
 */
export function startDifferences(
  type: OrderType,
  asked: RunInput,
  run: Partial<RunInput> | null | undefined,
): string[] {
  // A run recovered from the order list was not started with what was asked for: the order that the list showed tells.
  const listed = asked.recovered ? undefined : run?.recovered?.listed;
  if (listed) return echoDifferences(type, asked.order, listed).hard.map(pathOf);
  const [mine, theirs] = [wantedOrder(asked), wantedOrder(run)];
  return Object.keys(mine).flatMap((field) => differences(mine[field], theirs[field], field, sameValue));
}

/** What a start asks for, with the defaults filled in. Who asks, and whether anew, is not part of it. */
function wantedBatch(input: Partial<BatchInput> | null | undefined): Record<string, unknown> {
  return {
    account: input?.account ?? DEFAULT_ACCOUNT,
    rows: input?.rows,
    approval: input?.approval ?? 'none',
    approvalExpiresMs: input?.approvalExpiresMs,
    compensation: input?.compensation,
    resend: input?.resend ?? 'once',
    maxInFlight: input?.maxInFlight,
    stopAfter: input?.stopAfter,
    latestSend: input?.latestSend,
  };
}

/** A file is its content: under another name it is the same file, where both hashes are known. */
function fileDifferences(a: BatchInput['file'], b: BatchInput['file']): string[] {
  if (a?.sha256 && b?.sha256) return a.sha256 === b.sha256 ? [] : ['file.sha256'];
  return a?.path === b?.path ? [] : ['file.path'];
}

/** Fields in which two starts of one batch id differ; [] = a start may attach. Tolerates input never validated. */
export function batchInputDifferences(a: BatchInput, b: BatchInput): string[] {
  const [mine, theirs] = [wantedBatch(a), wantedBatch(b)];
  const others = Object.keys(mine).flatMap((field) => differences(mine[field], theirs[field], field, sameValue));
  return [...fileDifferences(a.file, b?.file), ...others];
}

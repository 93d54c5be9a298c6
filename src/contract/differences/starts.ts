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

const DEFAULTS: Readonly<Record<string, unknown>> = { account: DEFAULT_ACCOUNT, resend: 'once', approval: 'none' };
const OF_ORDER = ['account', 'order', 'compensation', 'revertTo', 'resend', 'latestSend'];
const OF_BATCH = 'account rows approval approvalExpiresMs compensation resend maxInFlight stopAfter latestSend'.split(
  ' ',
);

/** Fields in which two inputs differ, with the defaults filled in. Tolerates input that was never validated. */
const inputDifferences = (fields: readonly string[], mine: unknown, theirs: unknown): string[] =>
  fields.flatMap((field) => {
    const wanted = (input: unknown): unknown => {
      const value = (input as Record<string, unknown> | null | undefined)?.[field] ?? DEFAULTS[field];
      return field === 'order' || field === 'revertTo' ? inOneForm(value) : value;
    };
    return differences(wanted(mine), wanted(theirs), field, sameValue);
  });

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
  return inputDifferences(OF_ORDER, asked, run);
}

/** A file is its content: under another name it is the same file, where both hashes are known. */
function fileDifferences(a: BatchInput['file'], b: BatchInput['file']): string[] {
  if (a?.sha256 && b?.sha256) return a.sha256 === b.sha256 ? [] : ['file.sha256'];
  return a?.path === b?.path ? [] : ['file.path'];
}

/** Fields in which two starts of one batch id differ; [] = a start may attach. Tolerates input never validated. */
export function batchInputDifferences(a: BatchInput, b: BatchInput): string[] {
  return [...fileDifferences(a.file, b?.file), ...inputDifferences(OF_BATCH, a, b)];
}

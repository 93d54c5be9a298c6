import type { BatchInput } from '../batch/batch.js';
import { maskName } from '../masking.js';
import { DEFAULT_ACCOUNT } from '../names.js';
import type { RunInput } from '../order/input-and-result.js';
import { isOrderType, type OrderType, workflowTypeOf } from '../order/types.js';
import { canonicalWallet } from '../wallets.js';
import { echoDifferences } from './echo.js';
import { differences, sameValue } from './likeness.js';

/** Returns a target with wallets in canonical form. The input may be unchecked. */
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
const OF_ORDER = 'account order compensation revertTo resend whenShort latestSend reference metadata'.split(' ');
/** A batch that is started again later has another latest send time. */
const OF_ROW = OF_ORDER.filter((field) => field !== 'latestSend');
const OF_BATCH =
  'account rows approval approvalExpiresMs compensation resend whenShort maxInFlight stopAfter latestSend'.split(' ');

/** Returns the fields in which two inputs differ, with defaults. The inputs may be unchecked. */
const inputDifferences = (fields: readonly string[], mine: unknown, theirs: unknown): string[] =>
  fields.flatMap((field) => {
    const wanted = (input: unknown): unknown => {
      const value = (input as Record<string, unknown> | null | undefined)?.[field] ?? DEFAULTS[field];
      // Another caller may repeat a start.
      if (field === 'metadata') {
        const { startedBy: _, ...others } = Object(value);
        return Object.keys(others).length > 0 ? others : undefined;
      }
      // One instant has several spellings.
      if (field === 'latestSend' && typeof value === 'string') return Date.parse(value) || value;
      return field === 'order' || field === 'revertTo' ? inOneForm(value) : value;
    };
    return differences(wanted(mine), wanted(theirs), field, sameValue);
  });

/** Returns a field as a start names it. The order's type is not a request field. */
const pathOf = (field: string): string => (field === 'order_type' ? field : `order.${field}`);

/**
 * Returns the masked fields in which a start differs from its id's run; [] if it may attach. `run`
 * may be unchecked, and `type` any text.
 */
export function startDifferences(
  type: OrderType,
  asked: RunInput,
  { workflowType, input: run }: { workflowType: string; input: Partial<RunInput> | null | undefined },
): string[] {
  if (!isOrderType(type)) return ['order_type'];
  // A recovered run has no original input, so the listed order is compared.
  const listed = asked.recovered ? undefined : run?.recovered?.listed;
  const found = listed
    ? echoDifferences(type, asked.order, listed).hard.map(pathOf)
    : inputDifferences(asked.batchId === undefined ? OF_ORDER : OF_ROW, asked, run);
  const isSame = workflowTypeOf(type) === workflowType;
  return [...new Set([...(isSame ? [] : ['order_type']), ...found.map(maskName)])];
}

/** If both hashes are known, they alone identify a file. */
function fileDifferences(a: BatchInput['file'], b: BatchInput['file']): string[] {
  if (a?.sha256 && b?.sha256) return a.sha256 === b.sha256 ? [] : ['file.sha256'];
  return a?.path === b?.path ? [] : ['file.path'];
}

/** Returns the fields in which two starts of a batch id differ; [] if a start may attach. */
export function batchInputDifferences(a: BatchInput, b: BatchInput): string[] {
  return [...fileDifferences(a.file, b?.file), ...inputDifferences(OF_BATCH, a, b)];
}

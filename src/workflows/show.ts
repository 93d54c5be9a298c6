import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { AttentionCode } from '../contract/attention.js';
import { searchAttribute } from '../contract/names.js';
import type { OnlyByCommand } from '../contract/signature.js';
import { holdsWallet } from '../contract/wallets.js';

/** Shows a workflow to operators: by its current details in the Temporal UI and by what they search for. */
export function show(details: string, attributes: readonly SearchAttributeUpdatePair[]): void {
  setCurrentDetails(details);
  showAttributes(attributes);
}

/** Writes search attributes only where they differ from what Temporal has: each write costs an event. Null removes one. */
export function showAttributes(attributes: readonly SearchAttributeUpdatePair[]): void {
  const known = workflowInfo().typedSearchAttributes;
  const changed = attributes.filter(({ key, value }) => comparable(known.get(key)) !== comparable(value));
  if (changed.length > 0) upsertSearchAttributes(changed);
}

const comparable = (value: unknown): unknown => (value instanceof Date ? value.getTime() : (value ?? null));

/**
 * What lists show of an attention: why, since when, and about how much. A reason that stays keeps its time; without a reason all of
 * them go. A workflow that never wants a person writes none.
 */
export function attentionAttributes(code: AttentionCode | undefined, amount?: string): SearchAttributeUpdatePair[] {
  const known = workflowInfo().typedSearchAttributes;
  const before = known.get(searchAttribute.attentionReason) === code && known.get(searchAttribute.attentionSince);
  const isShown = code !== undefined && amount !== undefined && AMOUNT_SHOWN.test(amount) && !holdsWallet(amount);
  return [
    { key: searchAttribute.needsAttention, value: code !== undefined },
    { key: searchAttribute.attentionReason, value: code ?? null },
    { key: searchAttribute.attentionSince, value: code === undefined ? null : before || new Date() },
    { key: searchAttribute.amount, value: isShown ? amount : null },
  ];
}

/** Amounts of inputs that nobody has checked are shown only where they surely are amounts. */
const AMOUNT_SHOWN =
  /^(?:\d{1,24}(?:\.\d{1,24})? )?[A-Za-z0-9_]{1,20}(?: → (?:\d{1,24}(?:\.\d{1,24})? )?[A-Za-z0-9_]{1,20})?$/;

/** Why a page names a command in the place of what could be pasted. */
export const WHY_BY_COMMAND = {
  signed: 'since this account takes signed decisions only',
  encrypted: 'since only what is encrypted is taken here',
} satisfies Record<OnlyByCommand, string>;

/** A time as people read it. */
export const timeShown = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`;

/** An object as JSON to be pasted, its fields in the lines given, so that no line is broken or cut off in a narrow panel. */
export function pasteable(lines: readonly object[]): string {
  const parts = lines.map((line) => JSON.stringify(line).slice(1, -1)).filter((part) => part !== '');
  return `\`\`\`json\n{${parts.join(',\n ')}}\n\`\`\``;
}

/** Leaves out whatever could be a card number or a wallet, without a look at its check digit: one search attribute too few does no harm. */
const KEYWORD_FORMAT = /^(?!.*(?:\d[-._]*){12})(?!.*\w{26})[A-Za-z0-9._-]{1,120}$/;

/** Returns true for texts that Temporal surely takes as a search attribute, and that everybody may see. */
export const isKeyword = (value: unknown, format = KEYWORD_FORMAT): value is string =>
  typeof value === 'string' && format.test(value) && !holdsWallet(value);

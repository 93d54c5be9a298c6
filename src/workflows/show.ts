import type { SearchAttributePair } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { holdsWallet } from '../contract/wallets.js';

/** Shows a workflow to operators: by its current details in the Temporal UI and by what they search for. */
export function show(details: string, attributes: readonly SearchAttributePair[]): void {
  setCurrentDetails(details);
  showAttributes(attributes);
}

/** Writes search attributes only where they differ from what Temporal has: each write costs an event. */
export function showAttributes(attributes: readonly SearchAttributePair[]): void {
  const known = workflowInfo().typedSearchAttributes;
  const changed = attributes.filter(({ key, value }) => known.get(key) !== value);
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/** Leaves out whatever could be a card number or a wallet, without a look at its check digit: one search attribute too few does no harm. */
const KEYWORD_FORMAT = /^(?!.*(?:\d[-._]*){12})(?!.*\w{26})[A-Za-z0-9._-]{1,120}$/;

/** True for texts that Temporal surely takes as a search attribute, and that everybody may see. */
export const isKeyword = (value: unknown, format = KEYWORD_FORMAT): value is string =>
  typeof value === 'string' && format.test(value) && !holdsWallet(value);

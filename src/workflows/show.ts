import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { AttentionCode } from '../contract/attention.js';
import { searchAttribute } from '../contract/names.js';
import type { OnlyByCommand } from '../contract/signature.js';
import { isShownAmount } from './keywords.js';

/** Shows a workflow to operators, in the Temporal UI and in searches. */
export function show(details: string, attributes: readonly SearchAttributeUpdatePair[]): void {
  setCurrentDetails(details);
  showAttributes(attributes);
}

/** Writes search attributes that differ, because each write costs an event. Null removes one. */
export function showAttributes(attributes: readonly SearchAttributeUpdatePair[]): void {
  const known = workflowInfo().typedSearchAttributes;
  const changed = attributes.filter(({ key, value }) => comparable(known.get(key)) !== comparable(value));
  if (changed.length > 0) upsertSearchAttributes(changed);
}

const comparable = (value: unknown): unknown => (value instanceof Date ? value.getTime() : (value ?? null));

/** Returns what lists show of attention: why, since when, the amount. Without a code, all go. */
export function attentionAttributes(code: AttentionCode | undefined, amount?: string): SearchAttributeUpdatePair[] {
  const known = workflowInfo().typedSearchAttributes;
  const before = known.get(searchAttribute.attentionReason) === code && known.get(searchAttribute.attentionSince);
  const isShown = code !== undefined && isShownAmount(amount);
  return [
    { key: searchAttribute.needsAttention, value: code !== undefined },
    { key: searchAttribute.attentionReason, value: code ?? null },
    { key: searchAttribute.attentionSince, value: code === undefined ? null : before || new Date() },
    { key: searchAttribute.amount, value: isShown ? amount : null },
  ];
}

/** Why a page names a command instead of an argument to paste. */
export const WHY_BY_COMMAND = {
  signed: 'since this account requires signed decisions',
  encrypted: 'since only encrypted input is accepted',
} satisfies Record<OnlyByCommand, string>;

/**
 * Returns a sentence that quotes others with nothing in it that a page would show as a link, an
 * image, bold, HTML or a table. Code of ours stays.
 */
export const inert = (text: string): string =>
  text
    .replaceAll('](', '] (')
    .replaceAll('![', '! [')
    .replace(/(?<!\*)\*{2,3}(?!\*)/g, '*')
    .replaceAll('<', '‹')
    .replaceAll('|', '¦');

/**
 * UTF-8 bytes of a page. The UI loads a page by its address, and proxies refuse addresses above
 * 8 KB; most characters of a page need one or two bytes there.
 */
const MAX_PAGE_BYTES = 4_500;

/** The UI measures a page without its outer margins, and cuts the last line by them. */
const ROOM = '\u00a0';

/** Returns a page of the UI. If it is too long, its longest sentence is cut, never a decision. */
export function page(lines: readonly string[]): string {
  const shown = [...lines];
  const excess = () => new TextEncoder().encode(shown.join('\n\n')).length - MAX_PAGE_BYTES;
  for (let over = excess(); over > 0; over = excess()) {
    const [longest] = shown.filter((line) => !line.includes('\n')).sort((a, b) => b.length - a.length);
    if (longest === undefined || longest.length < MIN_LINE) break;
    const kept = Math.max(MIN_LINE - 2, longest.length - over - 1);
    shown[shown.indexOf(longest)] = `${longest.slice(0, kept).replace(/[\uD800-\uDBFF]$/, '')}…`;
  }
  return [...shown, ROOM].join('\n\n');
}

const MIN_LINE = 200;

/** Returns JSON to paste, in lines that a narrow panel does not break. */
export function pasteable(lines: readonly object[]): string {
  const parts = lines.map((line) => JSON.stringify(line).slice(1, -1)).filter((part) => part !== '');
  return `\`\`\`json\n{${parts.join(',\n ')}}\n\`\`\``;
}

import { table } from '../../src/starter/text.js';
import type { Outcome } from './run-scenarios.js';

const HEADINGS = ['', 'type', 'what happens', 'order id', 'create', 'learned by', 'outcome', 'compensation', 'events'];

/** The demo's table, each row followed by a link; `linkTo` makes the address of a workflow in the Temporal UI. */
export function outcomeTable(outcomes: readonly Outcome[], linkTo: (outcome: Outcome) => string): string {
  const rows = outcomes.map(({ type, name, orderId, created, learned, outcome, compensation, events, wrong }) => {
    const mark = wrong.length === 0 ? '✔' : '✘';
    return [mark, type, name, orderId, created, learned, outcome, compensation, `${events}`];
  });
  const [headings, ...lines] = table([HEADINGS, ...rows]).split('\n');
  return [
    headings,
    ...lines.flatMap((line, n) => [line, ...outcomes.slice(n, n + 1).map((it) => `   ${linkTo(it)}`)]),
  ].join('\n');
}

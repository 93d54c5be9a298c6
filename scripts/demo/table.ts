import Table from 'cli-table3';
import type { Outcome } from './run-scenarios.js';

/** The demo's table; `linkTo` makes the address of a workflow in the Temporal UI. */
export function outcomeTable(outcomes: readonly Outcome[], linkTo: (outcome: Outcome) => string): string {
  const table = new Table({
    head: ['', 'type', 'what happens', 'order id', 'create', 'learned by', 'outcome', 'compensation', 'events'],
    style: { head: [], border: [] },
  });
  for (const outcome of outcomes) {
    const { type, name, orderId, created, learned, compensation, events, wrong } = outcome;
    const mark = wrong.length === 0 ? '✔' : '✘';
    table.push([mark, type, name, orderId, created, learned, outcome.outcome, compensation, events]);
    table.push([{ colSpan: 9, content: `  ${linkTo(outcome)}` }]);
  }
  return table.toString();
}

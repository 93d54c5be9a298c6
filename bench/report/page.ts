import type { Report } from '../report.js';
import { factsLine } from '../report.js';
import { markdown } from '../table.js';

const opening = (id: string): string => `<!-- bench ${id} -->`;
const CLOSING = '<!-- end -->';

/**
 * The page with each table between its markers, `<!-- bench orders -->` and `<!-- end -->`, its chart above it where there is a folder
 * of charts. What a report does not have stays as it is. Throws when a table has no place.
 */
export function filledPage(page: string, { runs }: Report, charts?: string): string {
  let text = page;
  for (const { facts, tables } of runs) {
    for (const table of tables) {
      const [before, rest] = text.split(opening(table.id), 2);
      const end = rest?.indexOf(CLOSING) ?? -1;
      if (before === undefined || rest === undefined || end < 0)
        throw new Error(`the page has no ${opening(table.id)}`);
      const picture = charts === undefined ? [] : [`![${table.title}](${charts}/${table.id}.svg)`, ''];
      const lines = [opening(table.id), '', ...picture, markdown(table), '', `<sub>${factsLine(facts)}</sub>`, '', ''];
      text = before + lines.join('\n') + rest.slice(end);
    }
  }
  return text;
}

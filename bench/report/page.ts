import type { Report } from '../report.js';
import { factsLine } from '../report.js';
import { markdown, type Table } from '../table.js';

const opening = (id: string): string => `<!-- bench ${id} -->`;
const CLOSING = '<!-- end -->';

/**
 * The page with each table between its markers, `<!-- bench orders -->` and `<!-- end -->`, its chart above it where there is a folder
 * of charts. Below it stand the facts that differ from the table before. What a report does not have stays as it is. Throws when a
 * table has no place.
 */
export function filledPage(page: string, { runs }: Report, charts?: string): string {
  const place = ({ table }: { table: Table }): number => page.indexOf(opening(table.id));
  const tables = runs.flatMap(({ facts, tables }) => tables.map((table) => ({ table, facts })));
  let text = page;
  let told: Record<string, string> = {};
  for (const { table, facts } of tables.toSorted((a, b) => place(a) - place(b))) {
    const [before, rest] = text.split(opening(table.id), 2);
    const end = rest?.indexOf(CLOSING) ?? -1;
    if (before === undefined || rest === undefined || end < 0) throw new Error(`the page has no ${opening(table.id)}`);
    const picture = charts === undefined ? [] : [`![${table.title}](${charts}/${table.id}.svg)`, ''];
    // Another set-up is told whole, so that a run which is shown alone reads the same.
    const isOther = told.temporal !== facts.temporal;
    const news = Object.fromEntries(Object.entries(facts).filter(([name, value]) => isOther || told[name] !== value));
    const below = Object.keys(news).length > 0 ? [`<sub>${factsLine(news)}</sub>`, ''] : [];
    const lines = [opening(table.id), '', ...picture, markdown(table), '', ...below, ''];
    text = before + lines.join('\n') + rest.slice(end);
    told = facts;
  }
  return text;
}

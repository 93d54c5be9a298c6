import { median, spread } from '../statistics.js';
import { type Figure, shown, type Table, valuesOf } from '../table.js';

const WIDTH = 720;
const LABELS = 190;
const VALUES = 150;
const LINE = 24;
const HEAD = 30;

/** Readable on light and on dark pages. */
const STYLE = `text{font:12px system-ui,sans-serif;fill:#57606a}.t{font-weight:600}.b{fill:#0969da}.c{fill:#8c959f}.w{stroke:#57606a;stroke-width:1.5}
@media(prefers-color-scheme:dark){text{fill:#b1bac4}.b{fill:#4493f8}.c{fill:#6e7681}.w{stroke:#d1d9e0}}`;

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);

const at = (value: number): string => value.toFixed(1);

/** Bars of one figure, from y downwards; whiskers from the smallest to the largest round. */
function panel({ rows }: Table, figure: Figure, y: number): string[] {
  const measured = rows.map((row) => ({ row, values: valuesOf(row, figure) }));
  const most = Math.max(...measured.flatMap(({ values }) => values), Number.MIN_VALUE);
  const x = (value: number): number => LABELS + (value / most) * (WIDTH - LABELS - VALUES);
  const head = figure.unit ? `${figure.title}, ${figure.unit}` : figure.title;
  const bars = measured.flatMap(({ row, values }, index) => {
    const top = y + HEAD + index * LINE;
    const label = `<text x="${LABELS - 8}" y="${top + 15}" text-anchor="end">${escaped(row.name)}</text>`;
    if (values.length === 0) return [label, `<text x="${LABELS}" y="${top + 15}">–</text>`];
    const [min, max] = spread(values);
    const middle = median(values);
    const kind = row.name.startsWith('ours') ? 'b' : 'c';
    const bar = `<rect class="${kind}" x="${LABELS}" y="${top + 3}" width="${at(x(middle) - LABELS)}" height="${LINE - 7}" rx="2"/>`;
    const whisker = `<line class="w" x1="${at(x(min))}" x2="${at(x(max))}" y1="${at(top + LINE / 2)}" y2="${at(top + LINE / 2)}"/>`;
    const value = `<text x="${at(x(max) + 8)}" y="${top + 15}">${shown(middle)}</text>`;
    return [label, bar, ...(values.length > 1 ? [whisker] : []), value];
  });
  return [`<text class="t" x="8" y="${y + 18}">${escaped(head)}</text>`, ...bars];
}

/** The figures of a table that are drawn, as bars with whiskers: medians, smallest and largest. */
export function chart(table: Table): string {
  const drawn = table.figures.filter((figure) => figure.drawn);
  const height = HEAD + table.rows.length * LINE + 10;
  const panels = drawn.flatMap((figure, index) => panel(table, figure, index * height));
  const size = `width="${WIDTH}" height="${drawn.length * height}" viewBox="0 0 ${WIDTH} ${drawn.length * height}"`;
  const lines = [`<title>${escaped(table.title)}</title>`, `<style>${STYLE}</style>`, ...panels];
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">\n${lines.join('\n')}\n</svg>\n`;
}

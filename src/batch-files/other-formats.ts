import { badFile } from './errors.js';

const SAVE_SHEET = 'in the spreadsheet program, save the sheet as "CSV UTF-8"';

/** How files of other formats begin, read as Latin-1, and what to do with each. */
const BEGINNINGS: readonly [sign: RegExp, problem: string][] = [
  [/^PK\p{Cc}\p{Cc}/u, `is an Excel workbook or another zip file: ${SAVE_SHEET}`],
  [/^\xd0\xcf\p{Cc}\xe0/u, `is an Excel workbook of the old format: ${SAVE_SHEET}`],
  [/^\p{Cc}\x8b/u, 'is compressed (gzip): unpack it'],
  [/^%PDF-/, 'is a PDF: export the rows as CSV UTF-8'],
  [
    /^(\xff\xfe|\xfe\xff|([^\0]\0){4}|(\0[^\0]){4})/,
    'is UTF-16: save it as UTF-8 (in a spreadsheet program: "CSV UTF-8")',
  ],
  [/^\s*</, 'is HTML or XML, such as a web page or a report: export the rows as CSV UTF-8'],
];

/** The same of texts that are of the other one of our two formats, or nearly of this one. */
const OF_FORMAT: Readonly<Record<'csv' | 'ndjson', readonly [sign: RegExp, problem: string][]>> = {
  csv: [[/^\s*[[{]/, 'is JSON: write one object a line, and name the file .ndjson']],
  ndjson: [
    [/^\s*\[/, 'is a JSON array: write one object a line, without the brackets and the commas behind objects'],
    [/^\s*\{\s*[\r\n]/, 'is JSON over several lines: write one object a line'],
    [/^\s*[^{\s]/, 'is no NDJSON: write one JSON object a line; if it is CSV, name the file .csv'],
  ],
};

const NUL = '\0';
const CTRL_Z = '\x1a';

/** Bytes that show the format of a file. */
const HEAD_BYTES = 64 * 1024;

/** Refuses what people save instead of CSV or NDJSON in UTF-8, by how the file begins. Throws BatchFileError. */
export function refuseOtherFormats(bytes: Buffer, format: 'csv' | 'ndjson'): void {
  const text = bytes.toString('latin1', 0, HEAD_BYTES);
  const found = [...BEGINNINGS, ...OF_FORMAT[format]].find(([sign]) => sign.test(text));
  if (found) throw badFile(found[1]);
  const [first = ''] = text.split('\n', 1);
  if (first.replace(/\r$/, '').includes('\r')) {
    throw badFile('line 1: lines end with a bare CR; save the file with LF or CRLF');
  }
  const damage = damageOf(first);
  if (damage) throw badFile(`line 1: ${damage}`);
}

/** What a program left in a line that is no text; undefined = nothing. */
export function damageOf(line: string): string | undefined {
  if (line.includes(NUL)) return 'holds NUL bytes: the file was not written to its end; export it again';
  return line.endsWith(CTRL_Z) ? 'ends with the end mark of an old program (Ctrl+Z): remove the mark' : undefined;
}

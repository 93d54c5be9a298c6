import { readFile } from 'node:fs/promises';
import { jsonOr } from '../contract/json.js';
import { type Continues, hashOf, type LineFrame, NO_LINE } from './audit-record.js';

/** Result for one file. `problems`: all of them; `lastHash`: of its last line. */
export interface FileCheck {
  path: string;
  file?: string;
  lines: number;
  lastHash: string;
  problems: string[];
  /** Bytes after the last line break: a line that a dying worker was writing. */
  tornBytes: number;
  continues?: Continues;
}

/** Result for several files. `missing`: anchors that are in none of them. */
export interface Verification {
  files: FileCheck[];
  /** Problems between the files. */
  problems: string[];
  /** Continued files that were not given. */
  notGiven: string[];
  anchors: number;
  missing: string[];
}

/** File with the hashes of its lines. */
interface ReadFile {
  check: FileCheck;
  hashes: string[];
}

type Line = Partial<LineFrame & { event: string; continues: Continues }>;

/** Checks files and their chain. `anchors`: hashes that another place has kept. */
export async function verifyAudit(paths: readonly string[], anchors: readonly string[] = []): Promise<Verification> {
  const read: ReadFile[] = [];
  for (const path of paths) read.push(await readAudit(path));
  const byId = new Map(read.map((file) => [file.check.file, file]));
  const problems: string[] = [];
  const notGiven: string[] = [];
  for (const { path, file, continues } of read.map(({ check }) => check)) {
    if (file !== undefined && byId.get(file)?.check.path !== path)
      problems.push(`${path}: another file has the same id ${file}`);
    if (!continues) continue;
    const hashes = byId.get(continues.file)?.hashes;
    const from = hashes?.lastIndexOf(continues.hash) ?? -1;
    if (!hashes) notGiven.push(continues.file);
    else if (from < 0)
      problems.push(
        `${path}: goes on from a line that file ${continues.file} does not have any more: its end was cut or changed`,
      );
    else if (from < hashes.length - 1)
      problems.push(
        `${path}: goes on from line ${from + 1} of file ${continues.file}, behind which lines were added, or left by a write that failed`,
      );
  }
  if (anchors.length > 0) findAdded(read, anchors);
  const everywhere = new Set(read.flatMap(({ hashes }) => hashes));
  const missing = anchors.filter((hash) => !everywhere.has(hash));
  return { files: read.map(({ check }) => check), problems, notGiven, anchors: anchors.length, missing };
}

/**
 * Finds lines after the last known one. A known line confirms those before it, and a file's first
 * line confirms the end of the previous file.
 */
function findAdded(read: readonly ReadFile[], anchors: readonly string[]): void {
  const known = new Set([...anchors, ...read.flatMap(({ check }) => check.continues?.hash ?? [])]);
  for (const { check, hashes } of read) {
    const last = hashes.findLastIndex((hash) => known.has(hash)) + 1;
    if (last === hashes.length) continue;
    const why = 'no anchor is of or behind them: added, or their worker died before it logged them';
    check.problems.push(`lines from ${last + 1} on: ${why}`);
  }
}

const LINE_BREAK = 10;

async function readAudit(path: string): Promise<ReadFile> {
  const check: FileCheck = { path, lines: 0, lastHash: NO_LINE, problems: [], tornBytes: 0 };
  const hashes: string[] = [];
  let seq = 0;
  const all = await readFile(path);
  const end = all.lastIndexOf(LINE_BREAK) + 1;
  check.tornBytes = all.length - end;
  // Compares bytes: a text reader would hide a changed carriage return.
  for (let from = 0, to = 0; from < end; from = to + 1) {
    to = all.indexOf(LINE_BREAK, from);
    const bytes = all.subarray(from, to);
    const line: Line = Object(jsonOr(bytes.toString()));
    const problem = problemOf(check, line, seq);
    if (problem) check.problems.push(problem);
    if (check.lines === 0 && !problem) takeFirst(check, line);
    // Continues with this line's own number, so that one bad line is one problem.
    seq = Number.isSafeInteger(line.seq) ? Number(line.seq) + 1 : seq + 1;
    check.lines += 1;
    check.lastHash = hashOf(bytes);
    hashes.push(check.lastHash);
  }
  if (check.lines === 0) check.problems.push('holds no line of an audit record');
  return { check, hashes };
}

function takeFirst(check: FileCheck, { file, continues }: Line): void {
  check.file = file;
  const { file: before, hash } = Object(continues) as Partial<Continues>;
  if (typeof before === 'string' && typeof hash === 'string') check.continues = { file: before, hash };
}

/** Returns the problem of the next line; undefined if it continues the file. */
function problemOf({ file, lines, lastHash }: FileCheck, line: Line, seq: number): string | undefined {
  const number = lines + 1;
  if (line.v !== 1) return `line ${number} is none of an audit record`;
  const isFirst = line.event === 'opened' && typeof line.file === 'string' && line.prev === NO_LINE && line.seq === 0;
  if (lines === 0) return isFirst ? undefined : 'line 1 is not the first of a file';
  if (file !== undefined && line.file !== file) return `line ${number} is of another file`;
  if (line.seq !== seq)
    return `line ${number} has the number ${Number(line.seq) + 1}: lines were removed, added or moved`;
  if (line.prev === lastHash) return undefined;
  return `line ${number} does not follow from line ${lines}: one of the two was changed`;
}

/** Returns the hashes in a text: `auditHash` of logs, and lines that are only a hash. */
export const anchorsIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/(?:"auditHash":"|^)([0-9a-f]{64})(?:"|\s*$)/gm)].map(([, hash = '']) => hash)),
];

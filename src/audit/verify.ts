import { readFile } from 'node:fs/promises';
import { jsonOr } from '../contract/json.js';
import { type Continues, hashOf, type LineFrame, NO_LINE } from './line.js';

/** What one file shows. `problems`: all that is wrong with it; `lastHash`: of its last line. */
export interface FileCheck {
  path: string;
  file?: string;
  lines: number;
  lastHash: string;
  problems: string[];
  /** Bytes after the last line break: a line that was being written when its worker died, and that nothing relied on. */
  tornBytes: number;
  /** Lines whose entry stands in the file already: the server repeated what wrote them. */
  repeated: number;
  continues?: Continues;
}

/** What several files show together. `missing`: anchors that are in none of them. */
export interface Verification {
  files: FileCheck[];
  /** What is wrong between the files. */
  problems: string[];
  /** Files that these go on from and that were not given. */
  notGiven: string[];
  anchors: number;
  missing: string[];
}

/** A file with the hashes of its lines; `breaks`: indexes of lines that do not name the one before. */
interface ReadFile {
  check: FileCheck;
  hashes: string[];
  breaks: Set<number>;
}

type Line = Partial<LineFrame & { event: string; id: string; continues: Continues }>;

/** Checks each file and how they follow from each other; `anchors`: hashes that were kept elsewhere. Throws what the system throws. */
export async function verifyAudit(paths: readonly string[], anchors: readonly string[] = []): Promise<Verification> {
  const read: ReadFile[] = [];
  for (const path of paths) read.push(await readAudit(path));
  const byId = new Map<string, ReadFile>();
  const problems: string[] = [];
  for (const file of read) {
    const { path, file: id } = file.check;
    if (id === undefined) continue;
    if (byId.has(id)) problems.push(`${path}: another file has the same id ${id}`);
    else byId.set(id, file);
  }
  const files = read.map(({ check }) => check);
  problems.push(...files.flatMap((check) => continuationProblem(check, byId)));
  if (anchors.length > 0) findAdded(laterFirst(read, byId), new Set(anchors));
  const notGiven = files.flatMap(({ continues }) => (continues && !byId.has(continues.file) ? [continues.file] : []));
  const everywhere = new Set(read.flatMap(({ hashes }) => hashes));
  return {
    files,
    problems,
    notGiven,
    anchors: anchors.length,
    missing: anchors.filter((hash) => !everywhere.has(hash)),
  };
}

/** A worker goes on in another file from its last line alone, but for lines of which it did not know that they stand there. */
function continuationProblem({ path, continues }: FileCheck, byId: ReadonlyMap<string, ReadFile>): string[] {
  const before = continues && byId.get(continues.file);
  if (!before) return [];
  const { file, hash, unsure = [] } = continues;
  const from = before.hashes.lastIndexOf(hash);
  if (from < 0) {
    return [`${path}: goes on from a line that file ${file} does not have any more: its end was cut or changed`];
  }
  const isUnsure = before.hashes.slice(from + 1).every((later, index) => later === unsure[index]);
  return isUnsure ? [] : [`${path}: goes on from line ${from + 1} of file ${file}, behind which lines were added`];
}

/** Returns each file before the one that it continues, whatever their clocks say. */
function laterFirst(read: readonly ReadFile[], byId: ReadonlyMap<string, ReadFile>): ReadFile[] {
  const ordered = new Set<ReadFile>();
  for (const file of read) {
    const chain = new Set<ReadFile>();
    let at: ReadFile | undefined = file;
    while (at && !ordered.has(at) && !chain.has(at)) {
      chain.add(at);
      at = byId.get(at.check.continues?.file ?? '');
    }
    for (const link of [...chain].reverse()) ordered.add(link);
  }
  return [...ordered].reverse();
}

/** Finds lines that no anchor stands for. An anchor stands for all lines before its own, of files that were gone on from, too. */
function findAdded(read: readonly ReadFile[], known: Set<string>): void {
  for (const { check, hashes, breaks } of read) {
    const unknown: number[] = [];
    let isKnown = false;
    for (let index = hashes.length - 1; index >= 0; index -= 1) {
      isKnown = known.has(hashes[index] ?? '') || (isKnown && !breaks.has(index + 1));
      if (!isKnown) unknown.push(index + 1);
    }
    if (isKnown && check.continues) {
      for (const hash of [check.continues.hash, ...(check.continues.unsure ?? [])]) known.add(hash);
    }
    if (unknown.length > 0) {
      const which = inWords(unknown.reverse());
      check.problems.push(
        `${which}: no anchor is of or behind them: added, or their worker died before it logged them`,
      );
    }
  }
}

/** Rising numbers of lines as `lines 2, 5 to 7`. */
function inWords(numbers: readonly number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return `lines ${ranges.map(([from, to]) => (from === to ? from : `${from} to ${to}`)).join(', ')}`;
}

const LINE_BREAK = 10;

async function readAudit(path: string): Promise<ReadFile> {
  const check: FileCheck = { path, lines: 0, lastHash: NO_LINE, problems: [], tornBytes: 0, repeated: 0 };
  const file: ReadFile = { check, hashes: [], breaks: new Set() };
  const ids = new Set<unknown>();
  let seq = 0;
  const all = await readFile(path);
  const end = all.lastIndexOf(LINE_BREAK) + 1;
  check.tornBytes = all.length - end;
  // Byte for byte: what a text reader drops, such as a carriage return, is a change too.
  for (let from = 0, to = 0; from < end; from = to + 1) {
    to = all.indexOf(LINE_BREAK, from);
    const bytes = all.subarray(from, to);
    const line: Line = Object(jsonOr(bytes.toString()));
    const problem = problemOf(check, line, seq);
    if (problem) check.problems.push(problem);
    if (check.lines === 0 && !problem) takeFirst(file, line);
    if (line.prev !== check.lastHash) file.breaks.add(check.lines);
    // Later lines are held against where this one says it stands: one bad line is one problem.
    seq = Number.isSafeInteger(line.seq) ? Number(line.seq) + 1 : seq + 1;
    check.lines += 1;
    check.lastHash = hashOf(bytes);
    file.hashes.push(check.lastHash);
    if (line.id !== undefined && ids.has(line.id)) check.repeated += 1;
    ids.add(line.id);
  }
  if (check.lines === 0) check.problems.push('holds no line of an audit record');
  return file;
}

function takeFirst({ check }: ReadFile, { file: id, continues }: Line): void {
  check.file = id;
  const { file: before, hash, unsure } = Object(continues) as Partial<Continues>;
  if (typeof before !== 'string' || typeof hash !== 'string') return;
  check.continues = { file: before, hash, ...(Array.isArray(unsure) && { unsure }) };
}

/** What is wrong with the next line of a file, seen from the lines before it. */
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

/** The hashes in a text: those that workers log as `auditHash`, and lines that are a hash alone. */
export const anchorsIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/(?:"auditHash":"|^)([0-9a-f]{64})(?:"|\s*$)/gm)].map(([, hash = '']) => hash)),
];

import { createReadStream } from 'node:fs';
import { jsonOr } from '../contract/json.js';
import { type Continues, hashOf, type LineFrame, NO_LINE } from './line.js';

/** What one file shows. `problem`: the first thing that is wrong with it; `lastHash`: of the last line that follows from the others. */
export interface FileCheck {
  path: string;
  file?: string;
  lines: number;
  lastHash: string;
  problem?: string;
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

/** Checks each file and how they follow from each other; `anchors`: hashes that were kept elsewhere. Throws what the system throws. */
export async function verifyAudit(paths: readonly string[], anchors: readonly string[] = []): Promise<Verification> {
  const seen = new Map<string, Set<string>>();
  const files: FileCheck[] = [];
  const problems: string[] = [];
  for (const path of paths) {
    const hashes = new Set<string>();
    const check = await checkFile(path, hashes);
    files.push(check);
    if (!check.file) continue;
    if (seen.has(check.file)) problems.push(`${path}: another file has the same id ${check.file}`);
    else seen.set(check.file, hashes);
  }
  const notGiven: string[] = [];
  for (const { path, continues } of files) {
    const before = continues && seen.get(continues.file);
    if (continues && !before) notGiven.push(continues.file);
    if (continues && before && !before.has(continues.hash)) {
      problems.push(
        `${path}: goes on from a line that file ${continues.file} does not have any more: its end was cut or changed`,
      );
    }
  }
  const everywhere = [...seen.values()];
  const missing = anchors.filter((hash) => !everywhere.some((hashes) => hashes.has(hash)));
  return { files, problems, notGiven, anchors: anchors.length, missing };
}

async function checkFile(path: string, hashes: Set<string>): Promise<FileCheck> {
  const check: FileCheck = { path, lines: 0, lastHash: NO_LINE, tornBytes: 0, repeated: 0 };
  const ids = new Set<unknown>();
  for await (const { bytes, whole } of linesOf(path)) {
    if (!whole) {
      check.tornBytes = bytes.length;
      break;
    }
    const line = jsonOr(bytes.toString()) as Partial<LineFrame & { event: string; id: string; continues: Continues }>;
    check.problem = problemOf(check, line);
    if (check.problem) return check;
    if (check.lines === 0) Object.assign(check, { file: line.file, continues: line.continues });
    check.lines += 1;
    check.lastHash = hashOf(bytes);
    hashes.add(check.lastHash);
    if (line.id !== undefined && ids.has(line.id)) check.repeated += 1;
    ids.add(line.id);
  }
  if (check.lines === 0) check.problem = 'holds no line of an audit record';
  return check;
}

/** What is wrong with the next line of a file, seen from the lines before it. */
function problemOf(
  { file, lines, lastHash }: FileCheck,
  line: Partial<LineFrame & { event: string }> | null | undefined,
): string | undefined {
  const number = lines + 1;
  if (typeof line !== 'object' || line === null || line.v !== 1) return `line ${number} is none of an audit record`;
  if (lines === 0 && (line.event !== 'opened' || typeof line.file !== 'string'))
    return 'line 1 is not the first of a file';
  if (lines > 0 && line.file !== file) return `line ${number} is of another file`;
  if (line.seq !== lines)
    return `line ${number} has the number ${Number(line.seq) + 1}: lines were removed, added or moved`;
  if (line.prev !== lastHash) {
    return lines === 0
      ? 'line 1 is not the first of a file'
      : `line ${number} does not follow from line ${lines}: one of the two was changed`;
  }
  return undefined;
}

/** The lines of a file, byte for byte: what a text reader drops, such as a carriage return, is a change too. */
async function* linesOf(path: string): AsyncGenerator<{ bytes: Buffer; whole: boolean }> {
  let rest: Buffer[] = [];
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let to = chunk.indexOf(10); to >= 0; to = chunk.indexOf(10, from)) {
      yield { bytes: Buffer.concat([...rest, chunk.subarray(from, to)]), whole: true };
      rest = [];
      from = to + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
  if (rest.length > 0) yield { bytes: Buffer.concat(rest), whole: false };
}

/** The hashes in a text: those that workers log as `auditHash`, and lines that are a hash alone. */
export const anchorsIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/(?:"auditHash":"|^)([0-9a-f]{64})(?:"|\s*$)/gm)].map(([, hash = '']) => hash)),
];

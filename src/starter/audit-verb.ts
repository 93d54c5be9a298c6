import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { anchorsIn, type FileCheck, type Verification, verifyAudit } from '../audit/verify.js';
import { EXIT, type Report, UsageError, type Verbs } from './report.js';

/** Adds `audit verify`, which needs no Temporal. */
export function addAuditVerb(program: Command, verbs: Verbs): void {
  const verify = program
    .command('audit')
    .description('the audit record that workers write')
    .command('verify')
    .description('checks that no line was changed, removed, added or moved')
    .argument('<path...>', 'files of AUDIT_DIR, or folders of them')
    .option('--anchors <file>', "hashes kept elsewhere: the workers' log, or one hash per line");
  verbs.addLocal(verify, async (_, paths: string[], { anchors }: { anchors?: string }) => {
    try {
      const files = (await Promise.all(paths.map(filesOf))).flat();
      if (files.length === 0) throw new UsageError('there is no .ndjson file in that folder');
      const kept = anchors === undefined ? [] : anchorsIn(await readFile(anchors, 'utf8'));
      if (anchors !== undefined && kept.length === 0)
        throw new UsageError('--anchors: holds no hash of an audit record');
      return reportOf(await verifyAudit(files, kept));
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(`a file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'failed'})`);
    }
  });
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = await readdir(path);
  return names
    .filter((name) => name.endsWith('.ndjson'))
    .sort()
    .map((name) => join(path, name));
}

function reportOf(found: Verification): Report {
  const { files, problems, notGiven, anchors, missing } = found;
  const ok = problems.length === 0 && missing.length === 0 && files.every((file) => file.problems.length === 0);
  const anchored =
    anchors > 0
      ? `${anchors - missing.length} of ${anchors} anchors found${missing.length > 0 ? `; missing: ${missing[0]}${missing.length > 1 ? ' …' : ''}` : ''}`
      : "not shown without hashes kept elsewhere (--anchors with the workers' log): a cut end, lines added at an end, files added, gone or written anew";
  const text = [
    ...files.map(textOf),
    ...problems,
    ...notGiven.map((file) => `goes on from file ${file}, which was not given`),
    anchored,
    ok ? 'nothing contradicts the record' : 'THE RECORD DOES NOT HOLD',
  ];
  return { exitCode: ok ? EXIT.done : EXIT.endedWithoutSuccess, json: { ok, ...found }, text: text.join('\n') };
}

/** Maximum number of printed problems per file. `--json` prints all. */
const SHOWN = 10;

function textOf({ path, lines, lastHash, problems, tornBytes }: FileCheck): string {
  const torn =
    tornBytes > 0 ? `; ${tornBytes} bytes of a line that was never finished, and that nothing relied on` : '';
  const more = problems.length > SHOWN ? [`  and ${problems.length - SHOWN} more problems`] : [];
  const wrong = problems.slice(0, SHOWN).map((problem) => `  ${problem}`);
  return [`${path}: ${lines} lines, last ${lastHash}${torn}`, ...wrong, ...more].join('\n');
}

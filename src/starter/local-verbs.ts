import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { anchorsIn, type FileCheck, type Verification, verifyAudit } from '../audit/verify.js';
import type { ReplayCounts, SourceHistory } from '../bundle/replay.js';
import { loadEncryption, loadTemporalTarget } from '../config.js';
import { ORDERS_TASK_QUEUE } from '../contract/names.js';
import { maskWallets } from '../contract/wallets.js';
import type { Diagnosis } from '../preflight/doctor.js';
import { whileShowing } from './progress.js';
import { EXIT, type Report, type StarterIo, UsageError, type Verbs } from './report.js';
import { table } from './text.js';

/** Adds `doctor`, the only verb that reads a worker's secrets: it checks the environment. */
export function addDoctorVerb(program: Command, { stderr }: StarterIo, verbs: Verbs): void {
  const verb = program
    .command('doctor')
    .description(
      "check a worker's environment and all that it leads to, within 10 s; 1 where something has to be mended",
    );
  verbs.addLocal(verb, async () => {
    // Loaded only here: it reads secrets and requests each account's balances once.
    const { doctor } = await import('../preflight/doctor.js');
    return doctorReport(await whileShowing(stderr, 'checking', doctor));
  });
}

function doctorReport({ checks, notChecked, findings, accounts = {}, settings = {} }: Diagnosis): Report {
  const passed = checks.filter((name) => !findings.some(({ check }) => check === name));
  const unmade = Object.entries(notChecked).map(([name, first]) => ['not checked', name, `until ${first} is in order`]);
  const ids = Object.entries(accounts).map(([name, id]) => ['account', name, id]);
  const found = findings.map(({ level, check, text }) => [level, check, text]);
  const [errors, warnings] = ['error', 'warning'].map(
    (wanted) => findings.filter(({ level }) => level === wanted).length,
  );
  const summary = `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`;
  return {
    exitCode: errors ? EXIT.endedWithoutSuccess : EXIT.done,
    json: { ok: errors === 0, checks, notChecked, findings, accounts, settings },
    text: `${table([...passed.map((name) => ['ok', name, '']), ...unmade, ...ids, ...found])}\n${summary}`,
  };
}

const counted = (count = 0, name = ''): string => `${count} ${name}${count === 1 ? '' : 's'}`;

/** Maximum number of histories that are fetched ahead. */
const FETCHED_AHEAD = 4;
const SHOWN_EVERY = 100;

/**
 * Adds `replay`, which checks before a deploy whether this version can continue the open workflows.
 * Read-only.
 */
export function addReplayVerb(program: Command, { stderr }: StarterIo, verbs: Verbs): void {
  const replay = program
    .command('replay')
    .description('before a deploy: can this version continue every open workflow? Reads only; exit 1 where it cannot');
  verbs.addLocal(replay, async (connect) => {
    const { client } = await connect();
    const query = `ExecutionStatus = 'Running' AND TaskQueue = '${ORDERS_TASK_QUEUE}'`;
    const open = client.workflow.list({ query }).intoHistories({ concurrency: FETCHED_AHEAD });
    // Loaded only here: it is a large part of a worker.
    const { replayHistories } = await import('../bundle/replay.js');
    const from = { encryption: loadEncryption(), namespace: loadTemporalTarget().namespace };
    const counts = await whileShowing(stderr, 'bundling the workflows', (show) =>
      replayHistories(open as AsyncIterable<SourceHistory>, from, ({ histories, incompatible }) => {
        if (histories % SHOWN_EVERY === 0) show(`${histories} histories read, ${incompatible.length} incompatible`);
      }),
    );
    return replayReport(counts, client.options.namespace);
  });
}

const shownReason = (reason: string): string => maskWallets(reason.split('\n')[0] ?? '').slice(0, 500);

/** Maximum number of printed lines. `--json` has all. */
const SHOWN_HISTORIES = 50;

function replayReport({ incompatible: found, ...counts }: ReplayCounts, namespace: string): Report {
  const incompatible = found.map((one) => ({ ...one, reason: shownReason(one.reason) }));
  const rows = incompatible
    .slice(0, SHOWN_HISTORIES)
    .map(({ workflowId, type, reason }) => [maskWallets(workflowId), type, reason]);
  const more =
    incompatible.length > SHOWN_HISTORIES
      ? [`and ${incompatible.length - SHOWN_HISTORIES} more: --json has them all`]
      : [];
  const text = [
    ...(rows.length > 0 ? [table([['workflow id', 'type', 'reason'], ...rows]), ...more] : []),
    `${counts.histories} histories of namespace ${namespace}: this version can continue ${counts.compatible} and cannot continue ${incompatible.length}; ` +
      `${counts.pinned} stay with their version, ${counts.notBegun} have not begun`,
    incompatible.length > 0
      ? 'DO NOT DEPLOY: their workflow tasks would fail until a version is back that can continue them'
      : 'no history that was read contradicts this version',
  ];
  return {
    exitCode: incompatible.length > 0 ? EXIT.endedWithoutSuccess : EXIT.done,
    json: { ...counts, incompatible },
    text: text.join('\n'),
  };
}

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
      return auditReport(await verifyAudit(files, kept));
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

function auditReport(found: Verification): Report {
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
const SHOWN_PROBLEMS = 10;

function textOf({ path, lines, lastHash, problems, tornBytes }: FileCheck): string {
  const torn =
    tornBytes > 0 ? `; ${tornBytes} bytes of a line that was never finished, and that nothing relied on` : '';
  const more = problems.length > SHOWN_PROBLEMS ? [`  and ${problems.length - SHOWN_PROBLEMS} more problems`] : [];
  const wrong = problems.slice(0, SHOWN_PROBLEMS).map((problem) => `  ${problem}`);
  return [`${path}: ${lines} lines, last ${lastHash}${torn}`, ...wrong, ...more].join('\n');
}

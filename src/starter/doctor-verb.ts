import type { Command } from 'commander';
import type { Diagnosis } from '../preflight/doctor.js';
import { whileShowing } from './progress.js';
import { EXIT, type Report, type StarterIo, type Verbs } from './report.js';
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
    return reportOf(await whileShowing(stderr, 'checking', doctor));
  });
}

function reportOf({ checks, notChecked, findings, accounts = {}, settings = {} }: Diagnosis): Report {
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

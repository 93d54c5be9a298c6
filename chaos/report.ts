import type { Evidence, Finding } from './evidence/evidence.js';
import type { Load } from './load.js';
import type { OperatorReport } from './operator.js';
import { ORACLE } from './oracle/index.js';
import type { ChaosStack } from './stack.js';

/** Findings shown of each line; all of them are in the kept folder. */
const SHOWN = 5;

/** One judged line of the oracle. */
export interface Judged {
  name: string;
  findings: readonly Finding[];
}

/** Judges the evidence by every line of the oracle; an order that is not final in time counts like one. */
export function judge(evidence: Evidence, operator: OperatorReport): Judged[] {
  const late = operator.allFinalAfterMs === undefined ? [{ text: 'the last order was not final' }] : [];
  return [
    ...ORACLE.map(({ name, find }) => ({ name, findings: find(evidence) })),
    { name: 'open, and none ended for 5 min', findings: late },
  ];
}

/** True when every line is 0. */
export const isClean = (judged: readonly Judged[]): boolean => judged.every(({ findings }) => findings.length === 0);

/** One line per check, with its first findings. */
export function verdictLines(judged: readonly Judged[]): string[] {
  return judged.flatMap(({ name, findings }) => [
    `${findings.length === 0 ? '✔' : '✘'} ${name} ${findings.length}`,
    ...findings.slice(0, SHOWN).map(({ text }) => `    ${text}`),
    ...(findings.length > SHOWN ? [`    and ${findings.length - SHOWN} more`] : []),
  ]);
}

/** How often each part was killed so far; `exits` are ends nobody asked for, such as a start while Temporal was down. */
export function killedText({ workers, receiver, temporal, sandboxes, accounts }: ChaosStack): string {
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
  const exits = sum([...workers, receiver, ...sandboxes].map(({ crashes }) => crashes));
  const killed = `killed worker ${sum(workers.map(({ kills }) => kills))}, receiver ${receiver.kills}, Temporal ${temporal.kills}, sandbox ${sum(sandboxes.map(({ kills }) => kills))}; key swapped ${accounts.swaps}`;
  return exits === 0 ? killed : `${killed}; ended by themselves ${exits}`;
}

/** What was started and how it went, one line each. */
export function courseLines(evidence: Evidence, load: Load, operator: OperatorReport): string[] {
  const ends = new Map<string, number>();
  for (const { end, failureType, result } of evidence.followed.values()) {
    const name = result?.outcome ?? failureType ?? end;
    ends.set(name, (ends.get(name) ?? 0) + 1);
  }
  const cutOff = [...evidence.followed.values()].reduce((total, { createsCutOff }) => total + createsCutOff, 0);
  const compensated = [...evidence.followed.values()].filter(({ result }) => result?.compensation?.order_id).length;
  const final =
    operator.allFinalAfterMs === undefined ? 'not all' : `all after ${Math.round(operator.allFinalAfterMs / 1000)} s`;
  return [
    `started ${load.accepted.size} of ${load.planned.length}, starts repeated ${load.retries}${listed(load.surprises)}`,
    `ends ${listed(ends)}; follow-ups ${compensated}; final after healing: ${final}`,
    `create attempts whose worker was killed under them ${cutOff}`,
    `decisions ${listed(operator.decisions) || 'none'}`,
    ...[...operator.parks].map(([reason, count]) => `parked ${count}: ${reason}`),
  ];
}

/** How much the audit record tells. */
export function auditText({ audit: { files, lines }, choices }: Evidence): string {
  const sends = lines.filter(({ event }) => event === 'send').length;
  return `audit record: ${files} files, ${sends} lines about sends, ${lines.length - sends} others for ${choices.length} choices that counted`;
}

/** What was looked for, in how much. */
export function searchedLine({ searched: { values, forms, bytes, kinds } }: Evidence): string {
  return `looked for ${values} secrets and personal values of ${kinds} kinds, in ${forms} forms, in ${Math.round(bytes / 2 ** 20)} MiB`;
}

const listed = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([name, count]) => ` ${name} ${count}`).join(',');

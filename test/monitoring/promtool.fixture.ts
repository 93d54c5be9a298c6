import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';

const RULES = resolve('deploy/monitoring/alerts.yml');

/** What was scraped, and when. */
export interface Scrape {
  atMs: number;
  series: ReadonlyMap<string, number>;
}

/** How things were at one time: two scrapes, between which counters grow as fast as they did. */
export type Stage = readonly [Scrape, Scrape];

/** Whether promtool is installed; a line that nobody overlooks where it is not. */
export async function hasPromtool(): Promise<boolean> {
  const { failed } = await execa('promtool', ['--version'], { reject: false });
  if (failed) process.stderr.write('Alert rules: NOT ASKED, promtool is not installed (apt-get install prometheus)\n');
  return !failed;
}

const MINUTES = 60;

/** One series over a stage, minute by minute, as promtool writes it: at the rate that was measured. */
function stretch(key: string, [from, to]: Stage, startMinute: number): string {
  const [first, last] = [from.series.get(key), to.series.get(key)];
  if (last === undefined) return `_x${MINUTES}`;
  const seconds = (to.atMs - from.atMs) / 1_000;
  const isTime = key.includes('timestamp_seconds');
  const grows = isTime || /(_total|_count|_failed)(\{|$)/.test(key);
  const perMinute = grows ? ((last - (first ?? 0)) / seconds) * 60 : 0;
  // The test's clock begins at 0: what counts is how old a time was.
  const start = isTime ? startMinute * 60 - (to.atMs / 1_000 - last) : last;
  return `${start.toFixed(4)}+${Math.max(0, perMinute).toFixed(4)}x${MINUTES - 1}`;
}

const isAsked = (key: string): boolean =>
  /^(up|payment_|temporal_workflow_task_execution_failed)/.test(key) && !/_(bucket|sum)\{/.test(key);

/** Runs the rules over an hour of each stage; answers promtool's words where `alert` fires otherwise than in the second alone. */
export async function firesIn(alert: string, stages: readonly [Stage, Stage, Stage]): Promise<string> {
  const keys = [...new Set(stages.flat().flatMap(({ series }) => [...series.keys()]))].filter(isAsked);
  const firing = (minute: number, samples: object[]) => ({
    expr: `clamp_max(count(ALERTS{alertname="${alert}", alertstate="firing"}), 1)`,
    eval_time: `${minute}m`,
    exp_samples: samples,
  });
  return runRules({
    interval: '1m',
    input_series: keys.map((series) => ({
      series,
      values: stages.map((stage, index) => stretch(series, stage, index * MINUTES)).join(' '),
    })),
    promql_expr_test: [firing(59, []), firing(119, [{ labels: '{}', value: 1 }]), firing(179, [])],
  });
}

/** Runs the rules over one test as promtool has it; answers its words where something is otherwise than expected. */
export async function runRules(test: object): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-orders-rules-'));
  try {
    // YAML takes JSON.
    const whole = { rule_files: [RULES], evaluation_interval: '1m', tests: [test] };
    await writeFile(join(folder, 'test.yml'), JSON.stringify(whole));
    const { failed, all } = await execa('promtool', ['test', 'rules', join(folder, 'test.yml')], {
      reject: false,
      all: true,
    });
    return failed ? all : '';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

import { readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { hasPromtool, runRules } from './promtool.fixture.js';

const WITH_PROMTOOL = await hasPromtool();

test('every alert has its entry in the runbook', async () => {
  const rules = await readFile('deploy/monitoring/alerts.yml', 'utf8');
  const runbook = await readFile('docs/runbook.md', 'utf8');
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  const entries = [...runbook.matchAll(/^## (\w+)$/gm)].map(([, name = '']) => name);
  expect(entries).toEqual(alerts);
  expect(Object.keys(ALERTS).sort()).toEqual([...alerts].sort());
  for (const name of alerts) expect(rules).toContain(`runbook_url: docs/runbook.md#${name.toLowerCase()}`);
});

test('rules and dashboard name no metric that docs/monitoring.md does not', async () => {
  const page = await readFile('docs/monitoring.md', 'utf8');
  const texts = await Promise.all(
    ['alerts.yml', 'dashboard.json'].map((name) => readFile(`deploy/monitoring/${name}`, 'utf8')),
  );
  const names = new Set(texts.join('').match(/\b(payment|temporal)_[a-z_]+\b/g));
  expect(names.size).toBeGreaterThan(8);
  const plain = [...names].map((name) => name.replace(/_seconds_(count|bucket)$/, '_seconds'));
  expect(plain.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test.skipIf(!WITH_PROMTOOL)('the configuration of compose and its rules are valid', async () => {
  const { stdout } = await execa('promtool', ['check', 'config', 'deploy/monitoring/prometheus.yml']);
  expect(stdout).toContain('SUCCESS');
});

/** Values minute by minute over a calm hour, an hour in which something is wrong, and another calm one. */
const GAUGE = '0x59 2x59 0x59';
const SHOWN = '_x60 1x59 _x60';
const COUNTER = '0x59 0+5x59 295x59';
const REQUESTS = 'payment_service_request_seconds_count{account="eu",operation="order/status"';

/** Series that make each alert fire in the second hour alone. test/monitoring/metrics.nightly.test.ts sees that processes show them. */
const ALERTS: Record<string, Record<string, string>> = {
  PaymentProcessDown: { 'up{job="payment-orders-worker",instance="a"}': '1x59 0x59 1x59' },
  PaymentCheckFailed: { 'payment_orders_check{check="signed-read",account="eu",level="error"}': SHOWN },
  PaymentCheckWarns: { 'payment_orders_check{check="retention",account="",level="warning"}': SHOWN },
  PaymentOrdersNeedAttention: { 'payment_orders_attention{reason="over-cap",account="eu"}': SHOWN },
  PaymentAttentionLasts: { 'payment_orders_attention{reason="over-cap",account="eu"}': SHOWN },
  PaymentEventsUndelivered: { 'payment_orders_attention{reason="event-undelivered",account="eu"}': SHOWN },
  PaymentOrdersUncertain: { 'payment_orders_open{status="uncertain",age="1h"}': GAUGE },
  PaymentOrdersTerminated: { payment_orders_terminated: GAUGE },
  PaymentWorkflowTasksFail: { 'temporal_workflow_task_execution_failed{workflow_type="withdraw"}': COUNTER },
  PaymentServiceFails: {
    [`${REQUESTS},answer="200"}`]: '0+5x59 295x59 295+5x59',
    [`${REQUESTS},answer="not_sent"}`]: COUNTER,
  },
  PaymentKeyRefused: { [`${REQUESTS},answer="401"}`]: COUNTER },
  PaymentLimitUsedUp: {
    'payment_service_limit_requests_per_second{account="eu"}': '20x179',
    [`${REQUESTS},answer="200"}`]: '0+60x59 3600+1140x59 70920+60x59',
  },
  PaymentCallbacksNotTaken: { 'payment_callbacks_total{answer="unavailable"}': COUNTER },
  PaymentCountsStale: { payment_orders_counted_timestamp_seconds: '0+60x59 3540x59 7200+60x59' },
};

test.skipIf(!WITH_PROMTOOL).each(Object.entries(ALERTS))('%s fires and clears again', async (alert, values) => {
  const firing = (minute: number, samples: object[]) => ({
    expr: `clamp_max(count(ALERTS{alertname="${alert}", alertstate="firing"}), 1)`,
    eval_time: `${minute}m`,
    exp_samples: samples,
  });
  const rules = {
    interval: '1m',
    input_series: Object.entries(values).map(([series, minutes]) => ({ series, values: minutes })),
    promql_expr_test: [firing(59, []), firing(119, [{ labels: '{}', value: 1 }]), firing(179, [])],
  };
  expect(await runRules(rules)).toBe('');
});

/** Which reasons wait, minute by minute: a letter for each reason, a dash for nobody. No series while there are none. */
const waiting = (minutes: string) =>
  [...new Set(minutes.replaceAll('-', ''))].map((reason) => ({
    series: `payment_orders_attention{reason="${reason}",account="eu"}`,
    values: [...minutes].map((now) => (now === reason ? '1' : 'stale')).join(' '),
  }));

/** Which alerts fire at a minute. */
const firing = (minute: number, ...names: string[]) => ({
  expr: 'count by (alertname) (ALERTS{alertstate="firing", alertname=~"Payment.*Attention.*"})',
  eval_time: `${minute}m`,
  exp_samples: names.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
});

test.skipIf(!WITH_PROMTOOL)('attention whose reason changes all the time calls somebody within 6 minutes', async () => {
  const series = waiting('aaabbbcccaaabbbccc---');
  const expected = [firing(4), firing(6, 'PaymentAttentionLasts'), firing(17, 'PaymentAttentionLasts'), firing(20)];
  const told = {
    eval_time: '7m',
    alertname: 'PaymentAttentionLasts',
    exp_alerts: [
      {
        exp_labels: { severity: 'ticket' },
        exp_annotations: {
          summary: '1 orders or batches wait for a person: eu c 1',
          runbook_url: 'docs/runbook.md#paymentattentionlasts',
        },
      },
    ],
  };
  const test = { interval: '1m', input_series: series, promql_expr_test: expected, alert_rule_test: [told] };
  expect(await runRules(test)).toBe('');
});

test.skipIf(!WITH_PROMTOOL)('attention for one reason names it beside', async () => {
  const series = waiting('aaaaaaaaaa--');
  const both = ['PaymentAttentionLasts', 'PaymentOrdersNeedAttention'];
  const expected = [firing(4), firing(8, ...both), firing(11)];
  expect(await runRules({ interval: '1m', input_series: series, promql_expr_test: expected })).toBe('');
});

test.skipIf(!WITH_PROMTOOL)('what somebody sees to within minutes calls nobody', async () => {
  const series = waiting('aaa---bbb---ccc---');
  const expected = [3, 6, 9, 12, 15, 17].map((minute) => firing(minute));
  expect(await runRules({ interval: '1m', input_series: series, promql_expr_test: expected })).toBe('');
});

import { expect, test } from 'vitest';
import { hasPromtool, runRules } from './promtool.fixture.js';

const WITH_PROMTOOL = await hasPromtool();

/** Which reasons wait, minute by minute: a letter for each reason, a dash for nobody. No series while there are none. */
const waiting = (minutes: string) =>
  [...new Set(minutes.replaceAll('-', ''))].map((reason) => ({
    series: `payment_orders_attention{reason="${reason}"}`,
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
          summary: '1 orders or batches wait for a person: c 1',
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

import { Gauge, type Registry } from 'prom-client';
import type { Finding } from '../preflight/findings.js';

/** Shows what the last check of a process found, as `payment_orders_check`; no series = nothing to mend. */
export function showFindings(registry: Registry, findings: () => readonly Finding[]): void {
  new Gauge({
    name: 'payment_orders_check',
    help: 'what the last check of this worker found; no series where nothing has to be mended',
    labelNames: ['check', 'account', 'level'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { check, account = '', level } of findings()) {
        if (level !== 'note') this.set({ check, account, level }, 1);
      }
    },
  });
}

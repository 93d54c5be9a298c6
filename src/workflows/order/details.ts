import type { OrderRun } from './run.js';

/**
 * What the Temporal UI shows as current details: why the order waits and what may be done. Never a wallet, e-mail or
 * client datum: this text is shown to everyone who may look at workflows.
 */
export function currentDetails(run: OrderRun): string {
  const lines = [`**${run.phase}** · waiting for ${run.waitingFor}`];
  if (run.order) {
    lines.push(`Status at the service: \`${run.order.status}\` · order \`${run.order.order_uuid}\``);
  }
  if (run.notes) lines.push(`Not checked before it was sent: ${run.notes.join('; ')}`);
  if (run.attention) {
    lines.push(`**Needs attention** since ${run.attention.since}: ${run.attention.reason}`);
    lines.push(
      run.attention.allowed.length > 0
        ? `Send the update \`decide\` with \`revision\` ${run.revision} and one of: ${run.attention.allowed.map((action) => `\`${action}\``).join(', ')}. Never start this payment under another order id while it waits here.`
        : `Nothing to decide: the order ${run.phase === 'done' ? 'has ended' : 'goes on by itself'}.`,
    );
  }
  return lines.join('\n\n');
}

import { sendByHand } from '../../activities/order/by-hand.fixture.js';
import { orderInput } from '../../support/inputs.js';
import type { Lab } from '../../support/lab.js';

/** The n-th follow-up of an order as a run that is lost has sent it; its uuid. */
export async function sendFollowUp(
  { sandbox }: Lab,
  of: string,
  n: number,
  amount: string,
  marker = '',
): Promise<string> {
  const { order } = orderInput('withdraw', `${of}.r${n}`, { marker: `pay_ms=20 after_ms=20 ${marker}`.trim() });
  const sent = await sendByHand(sandbox, { ...order, amount });
  return sent.order_uuid;
}

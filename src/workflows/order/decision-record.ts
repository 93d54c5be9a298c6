import { maskWallet } from '../../contract/masking.js';
import type { Decision, DecisionRecord } from '../../contract/order/messages.js';
import { chooseOffer, type Offer } from '../compensation/offers.js';

/** A decision as the result keeps it: who, why, on what, and what was chosen; wallets masked. */
export function recordOf(offers: readonly Offer[], decision: Decision): DecisionRecord {
  const {
    action,
    by,
    reason,
    revision,
    order_uuid: orderUuid,
    differences,
    revertTo,
    wallet_details: cards,
  } = decision;
  const chosen = action === 'finish' || action === 'revert' ? chooseOffer(offers, decision) : undefined;
  return {
    action,
    by,
    reason,
    revision,
    at: new Date().toISOString(),
    ...(orderUuid && { order_uuid: orderUuid }),
    ...(differences && { differences }),
    ...(typeof chosen === 'object' && { ...(chosen.move.kind && { kind: chosen.move.kind }), as: chosen.move.as }),
    ...(revertTo && { revertTo: { network: revertTo.network, wallet: maskWallet(revertTo.wallet) } }),
    ...(Array.isArray(cards) && {
      wallet_details: cards.map(({ amount, wallet }) => ({ amount, wallet: maskWallet(wallet) })),
    }),
  };
}

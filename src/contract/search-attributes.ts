import { defineSearchAttributeKey } from '@temporalio/common';

/** Typed keys of the search attributes of order workflows (types: SEARCH_ATTRIBUTES in names.ts). */
export const searchAttribute = {
  account: defineSearchAttributeKey('PaymentAccount', 'KEYWORD'),
  /** `open`, `uncertain` or `parked` while so, then the final status; `none` when no order came to exist. */
  orderStatus: defineSearchAttributeKey('PaymentOrderStatus', 'KEYWORD'),
  orderUuid: defineSearchAttributeKey('PaymentOrderUuid', 'KEYWORD'),
  batchId: defineSearchAttributeKey('PaymentBatchId', 'KEYWORD'),
  currencyFrom: defineSearchAttributeKey('PaymentCurrencyFrom', 'KEYWORD'),
  currencyTo: defineSearchAttributeKey('PaymentCurrencyTo', 'KEYWORD'),
  needsAttention: defineSearchAttributeKey('PaymentNeedsAttention', 'BOOL'),
} as const;

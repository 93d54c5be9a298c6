import { describe, expect, it } from 'vitest';
import { maskName, maskWallet } from '../../src/contract/masking.js';
import { BITCOIN, CARD, SEPA_IBAN } from './inputs.fixture.js';

describe('maskWallet', () => {
  it.each([
    [CARD, '****1111'],
    [SEPA_IBAN, '****3000'],
    [BITCOIN, '****5mdq'],
    ['short', '****'],
    ['', '****'],
    [`${CARD}123`, '****'],
    [`${CARD}=1225`, '****'],
    [`${CARD} CVV737`, '****'],
    ['4111 1111 1111 1111', '****1111'],
  ])('shows %j as %s', (wallet, shown) => {
    expect(maskWallet(wallet)).toBe(shown);
  });
});

describe('maskName', () => {
  it.each(['order.wallet_details[3].amount', 'order.client_info.client_email', 'usdt_ethereum-usd_multiple_cards'])(
    'leaves %s as it is',
    (name) => {
      expect(maskName(name)).toBe(name);
    },
  );

  it.each([
    [`order.${CARD}`, 'order.****'],
    [`order.${SEPA_IBAN}`, 'order.****'],
    [`order.${BITCOIN}`, 'order.****'],
    ['order.jane.doe@example.com', 'order.jane.****'],
    ['a\u001b[2J\n', 'a?[2J?'],
  ])('masks %j', (name, shown) => {
    expect(maskName(name)).toBe(shown);
  });

  it('cuts long names', () => {
    expect(maskName('x '.repeat(500))).toHaveLength(121);
  });
});

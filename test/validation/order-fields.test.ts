import { describe, expect, it } from 'vitest';
import type { OrderType } from '../../src/contract/order/types.js';
import {
  CARD,
  CARDS_REQUEST,
  ETHEREUM,
  inputWith,
  OTHER_CARD,
  SEPA_IBAN,
  TRON,
  UA_IBAN,
} from '../contract/inputs.fixture.js';
import { accepts, BANK_UA, cards, errorsOf, fieldsOf, payout, refuses, refusesEach, SEPA } from './refusals.fixture.js';

describe('amounts', () => {
  const numbers = [0, -1, -0, 0.1 + 0.2, Number.NaN, Number.POSITIVE_INFINITY, 1e21, 9007199254740993n];
  const malformed = ['1e21', '1E5', '0x10', '1_000', ' 12 ', '', ',', '1,5', '1.000,00', '+5', '.5', '5.', '٣', '１２'];
  refusesEach(1, 'deposit', 'amount', '> 0', ['0', '0.00']);
  refusesEach(2, 'withdraw', 'amount', 'must be > 0', ['-0.01']);
  refusesEach(3, 'exchange', 'amount', 'strings', numbers);
  refusesEach(4, 'withdraw', 'amount', /./, [...malformed, '007']);
  refusesEach(9, 'deposit', 'amount', '40 characters', ['9'.repeat(400)]);
  refusesEach(11, 'deposit', 'amount', /./, [null, true, [], {}, 'abc']);
  refuses(12, 'exchange_withdraw', inputWith('exchange_withdraw', { amount: '1' }), 'order.amount', 'exactly one of');
  refusesEach(13, 'deposit_exchange_withdraw', 'amount', 'exactly one', [undefined]);
  refusesEach(13, 'withdraw', 'amount', 'required', [undefined]);
  for (const type of ['deposit', 'deposit_exchange', 'exchange', 'withdraw'] as const)
    refusesEach(14, type, 'amount_to', 'unknown field', ['1']);
  accepts(6, 'exchange', inputWith('exchange', { amount: '0.123456789012345678' }));
  accepts(9, 'deposit', inputWith('deposit', { amount: '9'.repeat(40) }));
});

describe('order ids', () => {
  const badForms = ['x'.repeat(121), 'a\0', 'a\n', '../../x', 'a/b', 'ключ'];
  refusesEach(16, 'deposit', 'order_id', 'required', ['', '   ', undefined]);
  refusesEach(17, 'deposit', 'order_id', '1 to 120', badForms);
  refusesEach(18, 'deposit', 'order_id', 'follow-ups', ['pay-1.r1']);
  refusesEach(20, 'deposit', 'order_id', 'meaning of its own', ['__proto__', 'constructor', '..']);
  refusesEach(22, 'withdraw', 'order_id', 'a card number', [OTHER_CARD]);
  refusesEach(22, 'withdraw', 'order_id', 'own wallet', [`pay-${CARD}`, '4111-1111-1111-1111']);
  const ownIban = { order: { ...payout('sepa', SEPA_IBAN).order, order_id: SEPA_IBAN } };
  refuses(22, 'withdraw', ownIban, 'order.order_id', 'own wallet');
  refuses(22, 'withdraw', cards({ order_id: `x${OTHER_CARD}` }), 'order.order_id', 'own wallet');
  refuses(22, 'withdraw', inputWith('withdraw', {}, { batchId: CARD }), 'batchId', 'own wallet');
  accepts(18, 'deposit', inputWith('deposit', { order_id: 'x'.repeat(120) }));
  accepts(
    22,
    'withdraw',
    // Digits like a card number behind a letter, a short wallet inside the id, a filler beside cards.
    inputWith('withdraw', { order_id: `o${OTHER_CARD}` }),
    { order: { ...payout('bank', 'acc-1').order, order_id: 'acc-1-x' } },
    cards({ wallet: 'multiple_cards', order_id: 'multiple_cards-1' }),
  );

  const followUp = (order_id: string) => errorsOf('withdraw', inputWith('withdraw', { order_id }), { followUp: true });
  it.each(['pay-1.r1', `${'x'.repeat(120)}.r9999`, 'pay-1.r2.r1'])('a follow-up may be called %s', (id) => {
    expect(followUp(id)).toEqual([]);
  });
  it.each(['pay-1', `${'x'.repeat(121)}.r1`, '.r1', 'a b.r1', ''])('a follow-up may not be called "%s"', (id) => {
    expect(followUp(id)).toHaveLength(1);
  });
});

describe('currencies, networks and wallets', () => {
  refusesEach(27, 'deposit', 'currency', /./, ['USD', 'usd ', '', 'u', null]);
  refusesEach(28, 'deposit', 'network', 'required', [undefined]);
  refusesEach(28, 'withdraw', 'network', 'lowercase', ['CARD']);
  refusesEach(29, 'exchange', 'currency_to', 'differ', ['usd']);
  refusesEach(31, 'withdraw', 'wallet', 'required', ['', undefined]);
  for (const wallet of [' ', 'a b', 'a\nb', 'a\u200bb', 'a\u0000b', 'x'.repeat(500)])
    refuses(31, 'withdraw', payout('monero', wallet), 'order.wallet', /./);
  refusesEach(32, 'withdraw', 'wallet', /\*{4}1112/, ['4111111111111112']);
  const badCards = ['41111111111', '41111111111111111111', '4111a11111111111', '4111 1111 1111 1111'];
  refusesEach(32, 'withdraw', 'wallet', /\*{4}/, badCards);
  refusesEach(33, 'withdraw', 'wallet', /\*{4}/, ['4111111111111111=1225', '4111111111111111123', `${CARD}/12/25`]);
  for (const [network, wallet, reason] of [
    ['sepa', 'DE89370400440532013001', /\*{4}3001/],
    ['sepa', SEPA_IBAN.toLowerCase(), /capital/],
    ['sepa', 'DE8937040044053201300', /22 characters/],
    ['bank_ua', SEPA_IBAN, /country/],
  ] as const)
    refuses(34, 'withdraw', payout(network, wallet), 'order.wallet', reason);
  for (const [network, wallet] of [
    ['bitcoin', ETHEREUM],
    ['bitcoin', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdb'],
    ['ethereum', ETHEREUM.slice(2)],
    ['tron', TRON.replace('J', '0')],
  ] as const)
    refuses(35, 'withdraw', payout(network, wallet), 'order.wallet', 'not an address');
  refusesEach(36, 'withdraw', 'wallet_memo', /control|string/, ['1\n', 12]);

  it('are refused by the network alone when no wallet can be judged by it', () => {
    expect(fieldsOf('withdraw', payout('CARD', 'whatever'))).toEqual(['order.network']);
  });

  accepts(31, 'withdraw', payout('monero', `4${'A'.repeat(94)}`));
  accepts(34, 'withdraw', payout('bank_ua', UA_IBAN, BANK_UA), payout('sepa', SEPA_IBAN));
  const memos = [null, '', 'm'.repeat(1024), '107-42'];
  accepts(36, 'withdraw', ...memos.map((wallet_memo) => inputWith('withdraw', { wallet_memo })));
});

describe('wallet details', () => {
  for (const [network, wallet, needs] of [
    ['bank', 'acc', 'bank_code'],
    ['bank_ua', UA_IBAN, 'recipient_bank'],
    ['card', CARD, 'none'],
  ] as const) {
    const reason = `does not fit network ${network}: needs ${needs}`;
    refuses(37, 'withdraw', payout(network, wallet, SEPA), 'order.wallet_details', reason);
  }
  refuses(37, 'withdraw', payout('sepa', SEPA_IBAN, [SEPA]), 'order.wallet_details', 'does not fit');
  const bank = (details: object) => payout('bank', 'acc', details);
  refuses(38, 'withdraw', bank({ bank_code: 12 }), 'order.wallet_details.bank_code', 'string');
  const ukrainian = (change: object) => payout('bank_ua', UA_IBAN, { ...BANK_UA, ...change });
  for (const taxpayer_number of ['1234567', '12345678901', 'AB123456'])
    refuses(39, 'withdraw', ukrainian({ taxpayer_number }), 'order.wallet_details.taxpayer_number', 'digits');
  for (const recipient_name of ['', '  ', 'x'.repeat(300), 'a\r\nb'])
    refuses(39, 'withdraw', ukrainian({ recipient_name }), 'order.wallet_details.recipient_name', /./);
  for (const recipient_email of ['jane', '@', 'a@b', 'a@b.c\r\nBcc: x@y.z', `${'a'.repeat(320)}@b.cd`]) {
    const input = payout('sepa', SEPA_IBAN, { ...SEPA, recipient_email });
    refuses(40, 'withdraw', input, 'order.wallet_details.recipient_email', 'e-mail');
  }
  refuses(41, 'withdraw', cards({ amount: '0.30000000000000004' }), 'order.wallet_details', 'add up to amount');
  for (const [wallet_details, reason] of [
    [[], '1 to 100'],
    [undefined, 'list'],
    [Array(101).fill({}), '1 to 100'],
  ] as const)
    refuses(42, 'withdraw', cards({ wallet_details }), 'order.wallet_details', reason);
  const before = [1, 2, 3].map((n) => ({ amount: `${n}`, wallet: `${n}` }));
  for (const amount of [0.1, '0', '-1', '1e1']) {
    const input = cards({ wallet_details: [...before, { amount, wallet: CARD }] });
    refuses(43, 'withdraw', input, 'order.wallet_details[3].amount', /./);
  }
  const mistyped = cards({ wallet_details: [{ amount: '0.3', wallet: '4111111111111112' }] });
  refuses(43, 'withdraw', mistyped, 'order.wallet_details[0].wallet', '****1112');
  const twice = cards({ wallet_details: ['0.1', '0.2'].map((amount) => ({ amount, wallet: CARD })) });
  refuses(44, 'withdraw', twice, 'order.wallet_details[1].wallet', 'same card');

  const { wallet_details } = CARDS_REQUEST;
  const exchanged = { currency_to: 'usd', network_to: 'multiple_cards', wallet: '-', wallet_details };
  const toCards = (amounts: object) => inputWith('exchange_withdraw', { ...exchanged, ...amounts });
  refuses(45, 'exchange_withdraw', toCards({ amount_to: '0.4' }), 'order.wallet_details', 'add up to amount_to');

  accepts(37, 'withdraw', inputWith('withdraw', { wallet_details: null }));
  accepts(38, 'withdraw', bank({ bank_code: '044' }), payout('sepa', SEPA_IBAN, SEPA));
  accepts(41, 'withdraw', cards({}));
  // The parts are in another currency than the amount.
  accepts(41, 'exchange_withdraw', toCards({ amount: '100', amount_to: undefined, currency_to: 'eth' }));
});

describe('other fields', () => {
  const client = (client_info: object) => inputWith('deposit', { client_info });
  refusesEach(47, 'withdraw', 'delay_order_for_minutes', /./, [-1, 1.5, '5', Number.NaN, 10 ** 9, 43_201]);
  for (const type of ['deposit', 'deposit_exchange', 'deposit_exchange_withdraw', 'exchange'] as const)
    refusesEach(48, type, 'delay_order_for_minutes', 'unknown field', [1]);
  const urls = ['http://127.0.0.1/', 'https://example.com/ok', 'file:///etc/passwd'];
  refusesEach(49, 'deposit', 'callback_url', 'the worker makes', urls);
  refusesEach(50, 'deposit', 'description', /./, ['x'.repeat(256), 'x'.repeat(1_000_000), 'a\u0007', 'a\nb', 5]);
  refusesEach(50, 'withdraw', 'description', 'own wallet', ['to 4111 1111 1111 1111']);
  const ownEmail = { description: 'for Jane@Example.com', client_info: { client_email: 'jane@example.com' } };
  refuses(50, 'deposit', inputWith('deposit', ownEmail), 'order.description', 'e-mail');
  refuses(51, 'deposit', client({ client_ip: '999.1.1.1' }), 'order.client_info.client_ip', 'IP');
  refuses(51, 'deposit', client({ client_email: 'x' }), 'order.client_info.client_email', 'e-mail');
  for (const key of ['ammount', 'orderId', 'amount ']) refusesEach(52, 'deposit', key, 'unknown field', ['1']);

  accepts(47, 'withdraw', ...[0, 43_200].map((n) => inputWith('withdraw', { delay_order_for_minutes: n })));
  accepts(50, 'deposit', inputWith('deposit', { description: 'Rechnung №5 – danke 👍' }));
  const known = { client_email: 'a.b+c@example.co.uk', client_id: '7' };
  const ips = ['::ffff:1.2.3.4', '2001:db8::1', '10.0.0.1'];
  accepts(51, 'deposit', ...ips.map((client_ip) => client({ client_ip, ...known })));
});

it.each(['Withdraw', 'payout', '', null])('row 26: order type %s', (type) => {
  expect(fieldsOf(type as OrderType, inputWith('deposit', {}))).toEqual(['order_type']);
});

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { echoDifferences, shownDifferences } from '../../../src/contract/differences/echo.js';
import type { WithdrawRequest } from '../../../src/contract/order/request.js';
import type { Order } from '../../../src/contract/service-objects.js';
import { orderFor, SEPA_IBAN, UA_IBAN } from '../inputs.fixture.js';

/** One order as the caller asked for it, and the name that the service shows. */
const REAL = JSON.parse(readFileSync(new URL('sepa-name.json', import.meta.url), 'utf8')) as {
  order: WithdrawRequest;
  the_service_shows: { recipient_name: string };
};

const OURS = { hard: [], soft: ['wallet_details'] };
const ANOTHERS = { hard: ['wallet_details'], soft: [] };

function requestTo(recipient_name: string, changes: object = {}): WithdrawRequest {
  const wallet_details = { recipient_email: 'a@example.com', recipient_name };
  return { ...REAL.order, wallet: SEPA_IBAN, wallet_details, ...changes };
}

/** How an order to this person differs if the service shows that name, and these changes. */
function shownAs(asked: WithdrawRequest, recipient_name: unknown, changes: Partial<Order> = {}, details: object = {}) {
  const wallet_to_details = { ...asked.wallet_details, recipient_name, ...details };
  return echoDifferences('withdraw', asked, orderFor('withdraw', asked, { wallet_to_details, ...changes }));
}

const named = (asked: string, shown: string) => shownAs(requestTo(asked), shown);

describe('a name that the service shows in another form', () => {
  test('is ours as the service really showed it', () => {
    expect(shownAs(REAL.order, REAL.the_service_shows.recipient_name)).toEqual(OURS);
  });

  test.for<[what: string, asked: string, shown: string]>([
    ['without accents', 'Jürgen Weiß-Müller', 'Jurgen Weis-Muller'],
    ['in capitals and transliterated', 'Jürgen Weiß-Müller', 'JUERGEN WEISS MUELLER'],
    ['half of it transliterated', 'Jürgen Weiß-Müller', 'Jürgen Weiss-Mueller'],
    ['with a ? for each letter', 'Jürgen Weiß-Müller', 'J?rgen Wei?-M?ller'],
    ['without its letters outside of ASCII', 'Jürgen Weiß-Müller', 'Jrgen Wei-Mller'],
    ['without those that have no accent', 'Łukasz Yıldız', 'ukasz Yldz'],
    ['with a ? for each byte', 'Jürgen Weiß-Müller', 'J??rgen Wei??-M??ller'],
    ['with a replacement character', 'Jürgen Weiß-Müller', 'J\ufffdrgen Wei\ufffd-M\ufffdller'],
    ['cut', 'Jürgen Weiß-Müller', 'Jürgen Weiß-M'],
    ['transliterated and cut', 'Jürgen Weiß-Müller', 'Juergen Weiss-Mue'],
    ['cut within a letter', 'Anna-Maria Weiß', 'Anna-Maria Weis'],
    ['cut, as its end says', 'Jürgen Weiß-Müller', 'Juergen Weis...'],
    ['with a ? and cut', 'Jürgen Weiß-Müller', 'J?rgen Wei?-M?'],
    ['Polish', 'Łukasz Dąbrowski', 'Lukasz Dabrowski'],
    ['Danish', 'Søren Kjærgård', 'Soeren Kjaergaard'],
    ['Turkish', 'İpek Yıldız', 'IPEK YILDIZ'],
    ['Turkish, with a ?', 'İpek Yıldız', '?pek Y?ld?z'],
    ['Icelandic', 'Þórður Æsison', 'Thordur Aesison'],
    ['Croatian', 'Đorđe Žižić', 'Djordje Zizic'],
    ['a typographic apostrophe', 'Sean O’Brien', 'Sean O?Brien'],
    ['an ampersand of a company', 'Müller & Söhne GmbH', 'Mueller + Soehne GmbH'],
    ['written with combining marks', 'Jürgen Weiß'.normalize('NFD'), 'Juergen Weiss'],
    ['Greek', 'Γιώργος Παπαδόπουλος', 'Giorgos Papadopoulos'],
    ['Bulgarian', 'Щерьо Въжаров', 'Shteryo Vazharov'],
    ['all its letters lost', 'Щерьо Въжаров', '?????? ???????'],
  ])('is ours: %s', ([, asked, shown]) => {
    expect(named(asked, shown)).toEqual(OURS);
  });

  test.for<[recipient_name: string, recipient_bank: string]>([
    ['Oleksandr Shevchenko', 'PryvatBank'],
    ['OLEKSANDR SHEVCHENKO', 'PRIVATBANK'],
    ['????????? ????????', '??????????'],
  ])('is ours in Ukraine, and so is the name of the bank: %s at %s', ([recipient_name, recipient_bank]) => {
    const details = {
      recipient_name: 'Олександр Шевченко',
      recipient_bank: 'ПриватБанк',
      taxpayer_number: '1234567890',
    };
    const asked = { ...REAL.order, network: 'bank_ua', currency: 'uah', wallet: UA_IBAN, wallet_details: details };
    expect(shownAs(asked, recipient_name, {}, { recipient_bank })).toEqual(OURS);
  });
});

describe('a name of somebody else', () => {
  test.for<[what: string, asked: string, shown: string]>([
    ['one letter differs', 'Jürgen Weiß-Müller', 'Juergen Weiss-Miller'],
    ['another first name', 'Jürgen Weiß-Müller', 'Jochen Weiss-Mueller'],
    ['one letter more', 'Jürgen Weiß', 'Juergen Weisser'],
    ['a plain letter is missing', 'Jürgen Weiß-Müller', 'Jurgen Weiss-Muler'],
    ['a ? for a plain letter', 'Jürgen Weiß-Müller', 'J?rge? Wei?-M?ller'],
    ['? for plain letters alone', 'Anna Smith', '???? ?????'],
    ['cut so far that it may be anybody', 'Jürgen Weiß-Müller', 'Juergen'],
    ['the end of it', 'Jürgen Weiß-Müller', 'Weiss-Mueller'],
    ['longer than the one that was asked for', 'Jürgen Weiß', 'Jürgen Weiß-Müller'],
    ['translated', 'Олександр Шевченко', 'Aleksandr Shevchenko'],
    ['only punctuation', 'Jürgen Weiß', '-'],
    ['other vowel signs', 'कि राम शर्मा', 'की राम शर्मा'],
    ['other letters of one script', 'Иван Петренко', 'Иван Петров'],
  ])('is a conflict: %s', ([, asked, shown]) => {
    expect(named(asked, shown)).toEqual(ANOTHERS);
  });
});

describe('a name in another form makes no other payment ours', () => {
  const asked = requestTo('Jürgen Weiß-Müller');
  const ASCII = 'Juergen Weiss-Mueller';

  test.for<[what: string, changes: Partial<Order>, hard: string[]]>([
    ['another order id', { user_order_id: 'sepa-2' }, ['order_id', 'wallet_details']],
    ['another type', { order_type: 'exchange_withdraw' }, ['order_type', 'wallet_details']],
    ['another amount', { expected_amount_from: '33.31', expected_amount_to: '33.31' }, ['wallet_details', 'amount']],
    [
      'an amount that cannot be read',
      { expected_amount_from: '', expected_amount_to: '' },
      ['wallet_details', 'amount'],
    ],
    ['another currency', { currency_to: 'usd', currency_from: 'usd' }, ['currency', 'wallet_details']],
    ['another network', { network_to: 'bank' }, ['network', 'wallet_details']],
    ['another account', { wallet_to: 'DE02120300000000202051' }, ['wallet', 'wallet_details']],
    ['no account', { wallet_to: null }, ['wallet', 'wallet_details']],
    ['a memo', { wallet_memo_to: '1' }, ['wallet_memo', 'wallet_details']],
  ])('of %s', ([, changes, hard]) => {
    expect(shownAs(asked, ASCII, changes)).toEqual({ hard, soft: [] });
  });

  test('whose account is masked, because it has to match in full', () => {
    const shown = shownAs(asked, ASCII, { wallet_to: 'DE89**************3000' });
    expect(shown).toEqual({ hard: ['wallet_details'], soft: ['wallet'] });
  });

  test('to another e-mail address', () => {
    expect(shownAs(asked, ASCII, {}, { recipient_email: 'b@example.com' })).toEqual(ANOTHERS);
  });

  test.for(['cash', 'bank'])('on the network %s, where the name may be all that names the payee', (network) => {
    expect(shownAs({ ...asked, network, wallet: 'till' }, ASCII)).toEqual(ANOTHERS);
  });

  test.for(['recipient_email', 'taxpayer_number', 'bank_code'])('by its %s', (field) => {
    const code = { ...asked, wallet_details: { ...asked.wallet_details, [field]: 'für-1' } } as WithdrawRequest;
    expect(shownAs(code, 'Jürgen Weiß-Müller', {}, { [field]: 'fur-1' })).toEqual(ANOTHERS);
  });
});

test('a payroll of 200 names, transliterated, cut to 18 letters or with lost letters: no person is asked', () => {
  const given =
    'Jürgen Björn Łukasz Zoë Şule Ångström-Åsa Þór François Iñaki Đorđe Γιώργος Μαρία Иван Щерьо Олена Юлія'.split(' ');
  const family =
    'Weiß-Müller Østergård Dąbrowski Núñez Yıldız Kjærgård Kováčová Großmann Brâncuși Ó’Súilleabháin Папазов Їжак Χατζής'.split(
      ' ',
    );
  const people = given.flatMap((first) => family.map((last) => `${first} ${last}`)).slice(0, 200);
  const single: Record<string, string> = {
    ß: 'ss',
    Ł: 'L',
    ł: 'l',
    Ø: 'O',
    ø: 'o',
    Þ: 'Th',
    Đ: 'D',
    đ: 'd',
    ı: 'i',
    æ: 'ae',
    '’': "'",
  };
  const ascii = (name: string) =>
    name
      .normalize('NFD')
      .replace(/[\u0300-\u036f]/g, '')
      .replace(/[^\0-\x7f]/g, (letter) => single[letter] ?? '?');
  const german = (name: string) => ascii(name.replace(/[äöüÄÖÜ]/g, (letter) => `${letter.normalize('NFD')[0]}e`));
  const lost = (name: string) => name.replace(/[^\0-\x7f]/g, '?');
  const forms = [
    ascii,
    german,
    lost,
    (name: string) => german(name).slice(0, 18),
    (name: string) => name.toUpperCase(),
  ];
  expect(people).toHaveLength(200);
  const asked = people.flatMap((name) =>
    forms.filter((form) => named(name, form(name)).hard.length > 0).map(() => name),
  );
  expect(asked).toEqual([]);
});

describe('what a person has to compare', () => {
  const compared = (asked: WithdrawRequest, changes: Partial<Order>, fields = ['wallet_details']) =>
    shownDifferences('withdraw', asked, orderFor('withdraw', asked, changes), fields);

  test.for<[what: string, shown: unknown, text: string]>([
    [
      'another name',
      { recipient_email: 'a@example.com', recipient_name: 'Jochen Weiss' },
      'wallet_details.recipient_name (asked for Jür••n W•••-Mü•••r, shown Joc••n W••••)',
    ],
    [
      'another e-mail address and no name',
      JSON.stringify({ recipient_email: 'berta@example.com' }),
      'wallet_details.recipient_email (asked for a@ex••••e.c••, shown be•••@ex••••e.c••), ' +
        'wallet_details.recipient_name (asked for Jü•••n W•••-Mü•••r, shown none)',
    ],
    [
      'a name that differs in one letter',
      { recipient_email: 'a@example.com', recipient_name: 'Jürgen Weiß-Möller' },
      'wallet_details.recipient_name (asked for Jü•••n W•••-Mül••r, shown Jü•••n W•••-Möl••r)',
    ],
    ['a text', 'DE89370400440532013000', 'wallet_details (asked for ****, shown ****)'],
    ['none', null, 'wallet_details (asked for ****, shown none)'],
  ])('is shown in part: %s', ([, wallet_to_details, text]) => {
    expect(compared(requestTo('Jürgen Weiß-Müller'), { wallet_to_details })).toBe(text);
  });

  test('is shown of a memo, too', () => {
    const asked = requestTo('Anna', { network: 'stellar', wallet_memo: '104653012' });
    expect(compared(asked, { wallet_memo_to: '104654012' }, ['wallet_memo'])).toBe(
      'wallet_memo (asked for 10•••30•2, shown 10•••40•2)',
    );
  });

  test('is shown of cards as of wallets, and nothing of unknown fields', () => {
    const asked = requestTo('', {
      network: 'multiple_cards',
      wallet_details: [{ amount: '33.30', wallet: '4111111111111111' }],
    });
    const wallet_to_details = [{ amount: '33.31', wallet: '5555555555554444', iban: SEPA_IBAN }];
    expect(compared(asked, { wallet_to_details })).toBe(
      'wallet_details[0].amount (asked for 33.30, shown 33.31), ' +
        'wallet_details[0].wallet (asked for ****1111, shown ****4444), ' +
        'wallet_details[0].iban (asked for none, shown ****)',
    );
  });
});

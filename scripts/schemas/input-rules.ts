import { SEPA_IBAN_LENGTHS, UA_IBAN_LENGTHS } from '../../src/contract/masking.js';
import { DECIDE_ACTIONS } from '../../src/contract/order/messages.js';
import { factsOf, type OrderType } from '../../src/contract/order/types.js';
import { MAX_CARDS, MULTIPLE_CARDS } from '../../src/contract/wallets.js';
import { cardPartSchema, detailsSchemas } from '../../src/validation/request-schemas.js';
import { type JsonSchema, jsonSchemaOf } from './json-schema.js';

/* JSON Schema of the rules about several fields, which `src/validation` checks in code. */

const NONE = { type: 'null' };
const given = (...required: string[]): JsonSchema => ({
  required,
  properties: Object.fromEntries(required.map((name) => [name, { not: NONE }])),
});
const whereIs = (field: string, value: unknown): JsonSchema => ({
  required: [field],
  properties: { [field]: { const: value } },
});
/** `then` as a name of a property would make the object look like a promise to linters. */
const ifThen = (condition: JsonSchema, met: JsonSchema, unmet?: JsonSchema): JsonSchema =>
  Object.fromEntries([['if', condition], ['then', met], ...(unmet ? [['else', unmet]] : [])]);

/** One of two fields, and not both. */
const eitherOf = (a: string, b: string): JsonSchema => ({ oneOf: [given(a), given(b)] });

/** Printable ASCII without a blank at either end, as codes, wallets and memos are written. */
const CODE = { pattern: '^([!-~]([ -~]*[!-~])?)?$' };
/** Characters that change the direction of reading. */
const DIRECTION = { type: 'string', pattern: '[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]' };
const BLANK_END = { type: 'string', pattern: String.raw`^\s|\s$` };
const iban = (lengths: ReadonlyMap<string, number>): JsonSchema => {
  const countries = [...lengths].map(([country, length]) => `${country}[0-9]{2}[A-Z0-9]{${length - 4}}`);
  return { pattern: `^(${countries.join('|')})$` };
};
const CARD = '^[1-9][0-9]{11,18}$';

const detailsOf = (network: keyof typeof detailsSchemas): JsonSchema => {
  const { properties, ...rest } = jsonSchemaOf(detailsSchemas[network], 'in');
  const fields = Object.entries(properties as Record<string, JsonSchema>);
  const checked = fields.map(([name, field]) => {
    const isName = /^recipient_(?:bank|name)$/.test(name);
    return [name, { allOf: [field, isName ? { not: BLANK_END } : CODE] }];
  });
  return { ...rest, properties: Object.fromEntries(checked) };
};

/** Wallet and details by network. Other networks pass details on. */
const BY_NETWORK: Readonly<Record<string, JsonSchema>> = {
  card: { wallet: { pattern: CARD }, wallet_details: NONE },
  sepa: { wallet: iban(SEPA_IBAN_LENGTHS), wallet_details: { anyOf: [NONE, detailsOf('sepa')] } },
  bank_ua: { wallet: iban(UA_IBAN_LENGTHS), wallet_details: { anyOf: [NONE, detailsOf('bank_ua')] } },
  bank: { wallet_details: { anyOf: [NONE, detailsOf('bank')] } },
  bitcoin: { wallet_details: NONE },
  ethereum: { wallet: { pattern: '^0x[0-9a-fA-F]{40}$' }, wallet_details: NONE },
  tron: { wallet: { pattern: '^T[1-9A-HJ-NP-Za-km-z]{33}$' }, wallet_details: NONE },
};

const CARDS = {
  required: ['wallet_details'],
  properties: {
    wallet_details: { type: 'array', minItems: 1, maxItems: MAX_CARDS, items: jsonSchemaOf(cardPartSchema, 'in') },
  },
};

/** The target of a payout or refund. `network`: the field that names its network. */
function targetRules(network: string): JsonSchema[] {
  const plain = { properties: { wallet: { minLength: 1, maxLength: 200, pattern: '^[!-~]+$' }, wallet_memo: CODE } };
  const isCards = whereIs(network, MULTIPLE_CARDS);
  return [
    ifThen(isCards, CARDS, { properties: { ...plain.properties, wallet_details: { not: { type: 'array' } } } }),
    ...Object.entries(BY_NETWORK).map(([name, properties]) => ifThen(whereIs(network, name), { properties })),
  ];
}

const ORDER_ID = {
  pattern: '^[A-Za-z0-9._:-]{1,120}$',
  not: {
    anyOf: [{ pattern: String.raw`\.r[0-9]+$|^\.+$` }, { enum: Object.getOwnPropertyNames(Object.prototype) }],
  },
};

/** Rules of the create request of a type. */
export function requestRules(type: OrderType): JsonSchema {
  const { exchanges, paysOut, sides } = factsOf(type);
  const plain = { properties: { order_id: ORDER_ID, description: { not: DIRECTION } } };
  return {
    allOf: [
      plain,
      ...(paysOut ? targetRules(sides.networkTo ?? '') : []),
      ...(exchanges && paysOut ? [eitherOf('amount', 'amount_to')] : []),
    ],
  };
}

const REFUND: JsonSchema = {
  properties: {
    revertTo: { allOf: [{ properties: { network: { not: { const: MULTIPLE_CARDS } } } }, ...targetRules('network')] },
  },
};

/** Rules of the input of an order. */
export function orderRules(type: OrderType): JsonSchema {
  const { exchanges, paysOut, startsWithDeposit } = factsOf(type);
  const nothingLeft = { properties: { compensation: { enum: ['report', 'ask', null] } } };
  const named = ifThen(whereIs('compensation', 'revert'), given('revertTo'));
  return {
    allOf: [
      { properties: { order: requestRules(type) } },
      REFUND,
      ...(startsWithDeposit ? [exchanges || paysOut ? named : nothingLeft] : []),
    ],
  };
}

/** Rules of the follower of a receipt: the type of its order is not known yet. */
export const receivedRules: JsonSchema = {
  allOf: [
    { properties: { revertTo: { properties: { network: { not: { const: MULTIPLE_CARDS } } } } } },
    ifThen(whereIs('compensation', 'revert'), given('revertTo')),
  ],
};

/** Rules of a batch. A plan alone may lack its id. */
export const batchRules: JsonSchema = {
  allOf: [
    eitherOf('file', 'rows'),
    ifThen(given('approvalExpiresMs'), whereIs('approval', 'required')),
    ifThen(whereIs('planOnly', true), {}, given('batchId')),
  ],
};

/** Rules of a scheduled batch: how its period is written. */
export const scheduledRules: JsonSchema = ifThen(
  whereIs('periodFormat', 'minute'),
  { properties: { period: { pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3])-[0-5][0-9]$' } } },
  { properties: { period: { pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' } } },
);

/** Fields that only some actions take. */
const FIELDS_OF: Partial<Record<(typeof DECIDE_ACTIONS)[number], readonly string[]>> = {
  adopt: ['order_uuid', 'differences'],
  approve: ['amount', 'currency'],
  finish: ['kind', 'as', 'revertTo', 'wallet_details'],
  revert: ['kind', 'as', 'revertTo', 'wallet_details'],
};

/** Rules of a decision: the fields of its action. */
export const decisionRules: JsonSchema = {
  allOf: [
    ifThen(whereIs('action', 'adopt'), given('order_uuid')),
    ...DECIDE_ACTIONS.map((action) => {
      const own = FIELDS_OF[action] ?? [];
      const others = [...new Set(Object.values(FIELDS_OF).flat())].filter((field) => !own.includes(field));
      return ifThen(whereIs('action', action), {
        properties: Object.fromEntries(others.map((field) => [field, NONE])),
      });
    }),
  ],
};

import fc from 'fast-check';
import type { Payers } from '../../../src/contract/order/activities.js';
import { factsOf, ORDER_TYPES, type OrderType } from '../../../src/contract/order/types.js';
import type { BalanceChange, Order } from '../../../src/contract/service-objects.js';
import type { Case } from '../../../src/workflows/compensation/figures.js';
import { caseOf } from './cases.fixture.js';

/*
 * A payment service in integers that shares no code with the product or the sandbox. It knows what truly happened to the
 * money, and publishes an order that may misstate its commissions, its payers and its rate.
 */

/** One unit of account; 9 places hold every amount of this model. */
const PLACES = 9;
const ONE = 10n ** BigInt(PLACES);

/** How the order shows a commission: what was withheld, the quote, a commission that was not withheld, or null. */
const FEE_SEMANTICS = ['withheld', 'quoted', 'none', 'unstated'] as const;
type FeeSemantics = (typeof FEE_SEMANTICS)[number];
type Payer = 'client' | 'merchant';

/** Terms and true behaviour of one side with a commission. */
interface SideOfWorld {
  payer: Payer;
  /** The payer that the product kept from rates. */
  kept: Payer;
  shows: FeeSemantics;
  /** Fixed part in units, and the share in basis points. */
  fixed: number;
  share: number;
  precision: number;
}

/** Everything that decides one simulated order. Shares are in thousandths. */
export interface World {
  type: OrderType;
  status: 'completed_partially' | 'error';
  asked: bigint;
  deposited: number;
  exchanged: number;
  paidOut: number;
  /** True if a payout came back to the balance. */
  returned: boolean;
  /** True if a merchant's commission and its amount are one balance change. */
  together: boolean;
  /** Units of T for one of F, as a fraction; `drift` in thousandths between quote and execution. */
  rate: [bigint, bigint];
  drift: number;
  digits: number;
  divides: boolean;
  from: SideOfWorld;
  to: SideOfWorld;
}

const payer = fc.constantFrom<Payer>('client', 'merchant');
const thousandths = fc.oneof(fc.constantFrom(0, 1000), fc.integer({ min: 1, max: 999 }));
const sides: fc.Arbitrary<SideOfWorld> = fc
  .record({
    payer,
    lied: fc.integer({ min: 0, max: 3 }).map((draw) => draw === 0),
    shows: fc.oneof({ weight: 3, arbitrary: fc.constant('withheld' as const) }, fc.constantFrom(...FEE_SEMANTICS)),
    fixed: fc.integer({ min: 0, max: 3 }),
    share: fc.integer({ min: 0, max: 300 }),
    precision: fc.constantFrom(0, 2, 6),
  })
  .map(({ lied, ...side }) => ({ ...side, kept: lied ? other(side.payer) : side.payer }));

/** Worlds of every type, payer, booking, rounding of the rate and fee semantics. */
export const worlds: fc.Arbitrary<World> = fc.record({
  type: fc.constantFrom(...ORDER_TYPES),
  status: fc.constantFrom('completed_partially', 'completed_partially', 'error'),
  asked: fc.integer({ min: 20, max: 100_000 }).map((units) => BigInt(units) * ONE),
  deposited: fc.oneof(fc.constant(1000), fc.integer({ min: 500, max: 1500 })),
  exchanged: thousandths,
  paidOut: thousandths,
  returned: fc.integer({ min: 0, max: 9 }).map((draw) => draw === 0),
  together: fc.boolean(),
  rate: fc.tuple(fc.bigInt({ min: 1n, max: 5000n }), fc.bigInt({ min: 1n, max: 5000n })),
  drift: fc.constantFrom(1000, 1000, 980, 1017),
  digits: fc.integer({ min: 1, max: 9 }),
  divides: fc.boolean(),
  from: sides,
  to: sides,
});

const other = (one: Payer): Payer => (one === 'client' ? 'merchant' : 'client');
const cut = (amount: bigint, precision: number): bigint => amount - (amount % 10n ** BigInt(PLACES - precision));
const part = (amount: bigint, share: number, precision: number) => cut((amount * BigInt(share)) / 1000n, precision);

function written(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(PLACES + 1, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`;
}

/** Returns the commission on an amount, rounded up to the precision and never above the amount. */
function feeOn(amount: bigint, { fixed, share, precision }: SideOfWorld): bigint {
  if (amount === 0n) return 0n;
  const exact = BigInt(fixed) * ONE + (amount * BigInt(share)) / 10_000n;
  const fee = cut(exact, precision) === exact ? exact : cut(exact, precision) + 10n ** BigInt(PLACES - precision);
  return fee > amount ? amount : fee;
}

/** Returns a fraction in decimals with so many significant digits, rounded half up. */
function shownRate([units, per]: [bigint, bigint], digits: number): string {
  let places = 0;
  const scaled = () => (units * 10n ** BigInt(places) * 2n + per) / (per * 2n);
  while (scaled() < 10n ** BigInt(digits - 1)) places += 1;
  const text = scaled()
    .toString()
    .padStart(places + 1, '0');
  return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
}

/** The balances of the merchant, and each change of them. */
class Books {
  readonly changes: BalanceChange[] = [];
  readonly #balances = new Map<string, bigint>();

  book(currency: string, ...amounts: bigint[]): void {
    for (const amount of amounts.filter((change) => change !== 0n)) {
      const before = this.#balances.get(currency) ?? 10n ** 9n * ONE;
      this.#balances.set(currency, before + amount);
      this.changes.push({
        currency,
        amount_before: written(before),
        amount_change: written(amount),
        amount_after: written(before + amount),
        created_at: '2026-01-02 03:04:05',
      });
    }
  }
}

/** What is truly left and what was truly withheld; decimal strings. */
interface Truth {
  unexchanged: string;
  unpaid: string;
  /** Sides whose shown commission is not the one that was withheld. */
  misstated: ('from' | 'to')[];
}

/** A deposit, an exchange or a payout that ran: what it took in all, its commission, and what came through. */
interface Step {
  gross: bigint;
  fee: bigint;
  net: bigint;
}

function stepOf(gross: bigint, side: SideOfWorld): Step {
  const fee = side.shows === 'none' ? 0n : feeOn(gross, side);
  const net = side.payer === 'client' ? gross - fee : gross;
  // An amount that does not cover its own commission cannot be paid out at all.
  return net > 0n ? { gross, fee, net } : { gross: 0n, fee: 0n, net: 0n };
}

/** Books a deposit (sign 1) or payout (sign -1); a merchant pays the commission apart, or in one change with the amount. */
function book(
  books: Books,
  currency: string,
  { gross, fee, net }: Step,
  { payer }: SideOfWorld,
  sign: bigint,
  together: boolean,
) {
  if (payer === 'client') books.book(currency, sign > 0n ? net : -gross);
  else if (together) books.book(currency, sign * gross - fee);
  else books.book(currency, sign * gross, -fee);
}

const NOTHING: Step = { gross: 0n, fee: 0n, net: 0n };

/** Runs the steps of an order on the books. */
function run(world: World, from: SideOfWorld, to: SideOfWorld, books: Books, [F, T]: readonly [string, string]) {
  const { startsWithDeposit, exchanges, paysOut } = factsOf(world.type);
  const asked = cut(world.asked, from.precision);
  const deposit = startsWithDeposit ? stepOf(part(asked, world.deposited, from.precision), from) : NOTHING;
  book(books, F, deposit, from, 1n, world.together);
  const whole = startsWithDeposit ? deposit.net : asked;
  const wanted = exchanges ? part(whole, world.exchanged, from.precision) : 0n;
  const received = exchangedAt(actualRate(world), wanted, to);
  // An amount that would be rounded to nothing is not exchanged: its booking would look like a commission.
  const used = received > 0n ? wanted : 0n;
  if (exchanges) {
    books.book(F, -used);
    books.book(T, received);
  }
  const available = exchanges ? received : whole;
  const payout = paysOut ? stepOf(part(available, world.paidOut, to.precision), to) : NOTHING;
  book(books, T, payout, to, -1n, world.together);
  const returned = world.returned && payout.gross > 0n;
  if (returned) books.book(T, payout.gross + (to.payer === 'client' ? 0n : payout.fee));
  return { asked, deposit, whole, used, available, payout, returned };
}

const actualRate = ({ rate, drift }: World): [bigint, bigint] => [rate[0] * BigInt(drift), rate[1] * 1000n];
const exchangedAt = (rate: [bigint, bigint], amount: bigint, to: SideOfWorld): bigint =>
  cut((amount * rate[0]) / rate[1], to.precision);

/** Returns what the order was expected to do, at the quoted rate and with the quoted commissions. */
function quote(world: World, from: SideOfWorld, to: SideOfWorld, asked: bigint) {
  const { startsWithDeposit, exchanges, paysOut } = factsOf(world.type);
  const feeFrom = startsWithDeposit ? feeOn(asked, from) : 0n;
  const credited = from.payer === 'client' ? asked - feeFrom : asked;
  const gross = exchanges ? exchangedAt(world.rate, credited, to) : credited;
  const feeTo = paysOut ? feeOn(gross, to) : 0n;
  return { feeFrom, feeTo, net: to.payer === 'client' ? gross - feeTo : gross };
}

/** Works an order, and returns it as the product sees it with the truth about it. */
export function worked(world: World): { c: Case; truth: Truth; honest: boolean } {
  const { type, from } = world;
  const { startsWithDeposit, exchanges, paysOut } = factsOf(type);
  const to = exchanges ? world.to : { ...world.to, precision: from.precision };
  const sides = exchanges ? (['fff', 'ttt'] as const) : (['fff', 'fff'] as const);
  const books = new Books();
  const { asked, deposit, whole, used, available, payout, returned } = run(world, from, to, books, sides);
  const expected = quote(world, from, to, asked);
  const shown = {
    from: startsWithDeposit ? shownFee(from, deposit, expected.feeFrom) : null,
    to: paysOut ? shownFee(to, payout, expected.feeTo) : null,
  };
  const paid = returned ? { ...payout, gross: 0n, net: 0n } : payout;
  const taken = [deposit.gross, used, payout.gross][startsWithDeposit ? 0 : exchanges ? 1 : 2] ?? 0n;
  const given = paysOut ? paid.net : available;
  const order: Partial<Order> = {
    currency_from: sides[0],
    currency_to: sides[1],
    currency_from_precision: from.precision,
    currency_to_precision: to.precision,
    expected_amount_from: written(asked),
    expected_amount_to: written(expected.net),
    amount_from: written(taken),
    amount_to: written(given),
    amount_from_fee: writtenOrNull(shown.from),
    amount_to_fee: writtenOrNull(shown.to),
    ...(exchanges && ratesOf(world)),
  };
  const payers: Payers = { from: startsWithDeposit ? from.kept : null, to: paysOut ? to.kept : null };
  const request = { amount: written(asked), amount_to: undefined };
  const misstated: Truth['misstated'] = [
    ...misstates('from', shown.from, deposit.fee),
    ...misstates('to', shown.to, returned ? 0n : payout.fee),
  ];
  const truth: Truth = {
    unexchanged: written(exchanges ? whole - used : 0n),
    unpaid: written(paysOut ? available - paid.gross : 0n),
    misstated,
  };
  const rightPayers = payers.from !== other(from.payer) && payers.to !== other(to.payer);
  const c = caseOf(type, world.status, { request, order, changes: books.changes, payers });
  return { c, truth, honest: rightPayers && misstated.length === 0 && !returned };
}

const writtenOrNull = (amount: bigint | null): string | null => (amount === null ? null : written(amount));
const misstates = (side: 'from' | 'to', shown: bigint | null, withheld: bigint) =>
  (shown ?? 0n) === withheld ? [] : [side];

function ratesOf(world: World) {
  const shown = (rate: [bigint, bigint]) => shownRate(world.divides ? [rate[1], rate[0]] : rate, world.digits);
  return { exchange_rate_initial: shown(world.rate), exchange_rate_actual: shown(actualRate(world)) };
}

const shownFee = (side: SideOfWorld, { gross, fee }: Step, quoted: bigint): bigint | null =>
  ({ withheld: fee, quoted, none: feeOn(gross, side), unstated: null })[side.shows];

import { replaceNumbers } from './wallet-numbers.js';

/** A wallet as it may be shown: `****1111`, or `****` where the last characters would tell too much. */
export function maskWallet(wallet: string): string {
  const bare = wallet.replace(/[^A-Za-z0-9]/g, '');
  // What follows 16 digits may be the expiry date or security code of a card.
  const mayEndInCode = /^\d{16}./.test(bare);
  return bare.length >= 12 && !mayEndInCode ? `****${bare.slice(-4)}` : '****';
}

/** Digits as other scripts and fonts write them. */
const FOREIGN_DIGITS = /(?:(?![0-9])\p{Nd})+/gu;

/**
 * THE way to show words of a person or of the service: without cards, IBANs, e-mails, long digit runs and control characters,
 * however they are typed.
 */
export const maskWords = (words: string): string =>
  replaceNumbers(
    words
      .replace(FOREIGN_DIGITS, (digits) => digits.normalize('NFKC').replace(/[^\d]+/g, '****'))
      .replace(/(?<![^\s.[\]])[^\s.[\]]*[@＠﹫][^\s[\]]*/g, '****'),
    () => '****',
    'anyhow',
  )
    .replace(/(?<![A-Za-z0-9])[A-Za-z0-9]*\d{6,}[A-Za-z0-9]*/g, '****')
    .replace(/\w{26,}/g, '****')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');

/** Text that callers chose as a name (field, currency, network), safe to show: masked, and cut after 120 characters. */
export function maskName(name: string): string {
  const masked = maskWords(name);
  return masked.length > 120 ? `${masked.slice(0, 120)}…` : masked;
}

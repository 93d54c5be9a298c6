import { sameAmount } from '../money.js';

/** Compares two values that are no objects; `key` is the name of the field they stand in. */
export type SameLeaf = (a: unknown, b: unknown, key: string) => boolean;

/** True for objects and lists. */
export const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isBlank = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Absent, null, '' or a container of nothing but these: they all say the same. */
export const isEmpty = (value: unknown): boolean =>
  isBlank(value) || (isTree(value) && Object.values(value).every(isBlank));

/** An own field of an object or list; undefined where it has none of that name. */
export const child = (tree: object, key: string): unknown =>
  Object.hasOwn(tree, key) ? (tree as Record<string, unknown>)[key] : undefined;

/**
 * Paths at which two values differ, whatever the order of their keys; empty = the same. Goes only as deep as both sides
 * do, so a service's answer nested without end cannot exhaust the stack.
 */
export function differences(a: unknown, b: unknown, path: string, sameLeaf: SameLeaf, name = path): string[] {
  if (isEmpty(a) && isEmpty(b)) return [];
  if (!isTree(a) || !isTree(b)) return !isTree(a) && !isTree(b) && sameLeaf(a, b, name) ? [] : [path];
  const list = Array.isArray(a);
  if (list !== Array.isArray(b)) return [path];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
    differences(child(a, key), child(b, key), list ? `${path}[${key}]` : `${path}.${key}`, sameLeaf, key),
  );
}

/** Compares decimal amounts numerically and everything else exactly. For use as SameLeaf. */
export function sameValue(a: unknown, b: unknown, key: string): boolean {
  const numeric = (key === 'amount' || key === 'amount_to') && [a, b].every(isNumeric);
  return numeric ? sameAmount(String(a), String(b)) : a === b;
}

const isNumeric = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

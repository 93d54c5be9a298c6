import type { ApplicationFailure } from '@temporalio/common';
import type { FieldError } from '../contract/failures.js';

const isFieldError = (value: unknown): value is FieldError =>
  typeof value === 'object' && value !== null && 'field' in value && 'reason' in value;

/** The bad fields a failure carries in its details; [] when it names none. */
export const fieldsOfFailure = (failure: ApplicationFailure): FieldError[] =>
  (failure.details ?? []).flat().filter(isFieldError);

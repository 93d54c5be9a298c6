export { BatchFileError } from './errors.js';
export { type BatchRow, type BatchSource, MAX_ROWS, openBatchSource, orderInputOf } from './source.js';

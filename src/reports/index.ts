export { type Cell, type CsvReport, openCsvReport } from './csv-report.js';
export { type JsonReport, openJsonReport } from './json-report.js';
export { openReport, type ReportWriter } from './report-file.js';

export { type Cell, type CsvReport, type JsonReport, openCsvReport, openJsonReport } from './formats.js';
export { openReport, type ReportWriter } from './report-file.js';

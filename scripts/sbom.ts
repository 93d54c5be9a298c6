import { readFileSync } from 'node:fs';
import { execa } from 'execa';

// Writes to stdout what is shipped from the current folder, by its lockfile (CycloneDX). npm calls the package itself after its
// folder, which says nothing of what it is.
const { stdout } = await execa('npm', ['sbom', '--package-lock-only', '--omit', 'dev', '--sbom-format', 'cyclonedx']);
const sbom = JSON.parse(stdout);
sbom.metadata.component.name = JSON.parse(readFileSync('package.json', 'utf8')).name;
process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);

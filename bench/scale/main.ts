// Prints the simulated tables of docs/scale.md.
import { TABLES, writeTable } from './scenarios.ts';

for (const [name, simulateTable] of Object.entries(TABLES))
  console.log(`${name}\n\n${writeTable(simulateTable())}\n`);

import { changesOf, differencesAt } from '../test/support/checks/zone-oracle.ts';

/**
 * Holds the calendar of schedules to the local clock of every minute around every change of clocks
 * from 2020 to 2030, in every time zone. Takes minutes; the tests do the same for a few zones.
 */
const [fromYear = 2020, toYear = 2030] = process.argv.slice(2).map(Number);
const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
let changes = 0;
const differences: string[] = [];
for (const [index, zone] of zones.entries()) {
  for (const change of changesOf(zone, fromYear, toYear)) {
    changes += 1;
    differences.push(...differencesAt(zone, change));
  }
  if (process.stderr.isTTY) process.stderr.write(`\r${index + 1}/${zones.length} zones`);
}
for (const difference of differences.slice(0, 50)) process.stdout.write(`${difference}\n`);
process.stdout.write(
  `${zones.length} zones, ${changes} changes from ${fromYear} to ${toYear}, ` +
    `${differences.length} differences (IANA ${process.versions.tz})\n`,
);
process.exitCode = differences.length === 0 && changes > 0 ? 0 : 1;

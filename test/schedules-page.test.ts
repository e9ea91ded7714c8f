import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  CATCH_UPS,
  DST_GAPS,
  DST_REPEATS,
  OVERLAPS,
  SCHEDULE_DEFAULTS,
  SLOT_REASONS,
  SLOT_STATUSES,
  type Timing,
} from '../src/core/schedule/schedule.ts';
import { upcoming } from '../src/schedule/preview.ts';

const page = readFileSync(new URL('../docs/schedules.md', import.meta.url), 'utf8');

/** The rows of a table of the page, known by its header. */
function table(header: string): string[][] {
  const [, rest = ''] = page.split(`${header}\n`);
  const [rows = ''] = rest.split('\n\n');
  return rows
    .split('\n')
    .slice(1)
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

describe('docs/schedules.md', () => {
  test('has every policy with its values and its default', () => {
    const documented: Record<string, string[]> = {};
    let policy = '';
    for (const [name = '', value = ''] of table('| Policy | Value | Meaning |')) {
      policy = name.replaceAll('`', '') || policy;
      (documented[policy] ??= []).push(value.replaceAll('`', ''));
    }
    const marked = (policyName: keyof typeof SCHEDULE_DEFAULTS, values: readonly string[]) =>
      values.map((value) =>
        SCHEDULE_DEFAULTS[policyName] === value ? `${value} (default)` : value,
      );
    expect(documented).toEqual({
      dstGap: marked('dstGap', DST_GAPS),
      dstRepeat: marked('dstRepeat', DST_REPEATS),
      catchUp: marked('catchUp', CATCH_UPS),
      overlap: marked('overlap', OVERLAPS),
    });
    const settings = table('| Setting | Default | Meaning |').map(
      ([name, value]) => `${name} ${value}`,
    );
    expect(settings).toContain(
      `\`catchUpWindowMs\` \`${SCHEDULE_DEFAULTS.catchUpWindowMs}\` (7 days)`,
    );
    expect(settings).toContain(`\`catchUpMax\` \`${SCHEDULE_DEFAULTS.catchUpMax}\``);
    expect(settings).toContain(`\`jitterMs\` \`${SCHEDULE_DEFAULTS.jitterMs}\``);
  });

  test('has every reason, with a status that can have it', () => {
    const rows = table('| Status | Reason | Meaning |');
    const reasons = rows.map(([, reason = '']) => reason.replaceAll('`', '')).filter(Boolean);
    expect(new Set(reasons)).toEqual(new Set(SLOT_REASONS));
    expect(new Set(rows.map(([status]) => status))).toEqual(new Set(SLOT_STATUSES));
  });

  test.each(table('| Expression | Zone | Policies | After | Then |'))(
    '%s in %s (%s) is as it says',
    (cron = '', timezone = '', policies = '', after = '', then = '') => {
      const timing: Timing = {
        cron: cron.replaceAll('`', ''),
        timezone,
        startAt: null,
        endAt: null,
        dstGap: policies === 'skip' ? 'skip' : 'shift',
        dstRepeat: policies === 'twice' ? 'twice' : 'once',
      };
      const next = upcoming(timing, Date.parse(after), 2).map(({ at }) => `${at.slice(0, 16)}Z`);
      expect(next.join(', ')).toBe(then);
    },
  );
});

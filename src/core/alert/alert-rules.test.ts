import { describe, expect, it, test } from 'vitest';
import { ALERT_RULE_NAMES, ALERT_RULES, RETRY_RATE_MIN } from './alert.ts';
import { duration } from '../values/duration.ts';
import {
  type AlertDefaults,
  AlertRules,
  type Finding,
  FIRING_MAX,
  judge,
  parseAlertDefaults,
  rulesOf,
  type TenantRule,
} from './alert-rules.ts';

const SAID_NOTHING = {
  threshold: null,
  windowSeconds: null,
  enabled: null,
  severity: null,
  updatedAt: null,
};

const said = (changes: Partial<TenantRule>): TenantRule => ({
  tenant: 'acme',
  rule: 'dead-letters',
  definitionKey: null,
  ...SAID_NOTHING,
  ...changes,
});

const finding = (changes: Partial<Finding>): Finding => ({
  rule: 'dead-letters',
  tenant: 'acme',
  definitionKey: 'mail',
  scheduleId: null,
  jobId: null,
  value: 1,
  ...changes,
});

describe('the nearest word counts, field by field', () => {
  const defaults: AlertDefaults = { 'dead-letters': { threshold: 20, windowSeconds: 7_200 } };
  const rules = new AlertRules(
    [
      said({ threshold: 30 }),
      said({ definitionKey: 'mail', enabled: false, severity: 'critical' }),
      said({ tenant: 'rival', definitionKey: 'mail', threshold: 2, windowSeconds: 9_000 }),
    ],
    defaults,
  );

  test.each([
    ['acme', 'mail', { enabled: false, threshold: 30, windowSeconds: 7_200, severity: 'critical' }],
    ['acme', 'report', { enabled: true, threshold: 30, windowSeconds: 7_200, severity: 'warning' }],
    ['rival', 'mail', { enabled: true, threshold: 2, windowSeconds: 9_000, severity: 'warning' }],
    [
      'rival',
      'report',
      { enabled: true, threshold: 20, windowSeconds: 7_200, severity: 'warning' },
    ],
  ])('%s, %s', (tenant, key, expected) => {
    expect(rules.of('dead-letters', tenant, key)).toEqual(expected);
  });

  it('and one measurement serves all of them', () => {
    expect(rules.windowSecondsMax('dead-letters')).toBe(9_000);
    expect(rules.thresholdMin('dead-letters')).toBe(2);
    const off = new AlertRules([], { vacuum: { enabled: false } });
    expect(off.thresholdMin('vacuum')).toBe(Infinity);
    const onForOne = new AlertRules([said({ rule: 'stuck', enabled: true })], {
      stuck: { enabled: false },
    });
    expect(onForOne.thresholdMin('stuck')).toBe(1);
  });

  it('is shown with who said it', () => {
    const shown = rules.list('acme').map((rule) => [rule.rule, rule.definitionKey, rule.source]);
    expect(shown.slice(0, 3)).toEqual([
      ['dead-letters', null, 'api'],
      ['dead-letters', 'mail', 'api'],
      ['retries', null, 'default'],
    ]);
    expect(rules.view('rival', 'dead-letters', null).source).toBe('config');
    expect(rulesOf('acme')).not.toContain('vacuum');
    expect(rulesOf('default')).toEqual([...ALERT_RULE_NAMES]);
  });
});

describe('judging', () => {
  const rules = new AlertRules([], {});
  const values = (...findings: Partial<Finding>[]) =>
    judge(findings.map(finding), rules).map(({ subject, value }) => [subject, value]);

  it('adds up counts and takes the greatest age, of each subject by itself', () => {
    expect(values({ value: 6 }, { value: 4 }, { value: 9, definitionKey: 'b' })).toEqual([
      ['mail', 10],
    ]);
    const rule = 'oldest-age' as const;
    expect(values({ rule, value: 800 }, { rule, value: 899 })).toEqual([]);
    expect(values({ rule, value: 900 }, { rule, value: 1 })).toEqual([['mail', 900]]);
    expect(values({ value: 6 }, { value: 6, tenant: 'rival' })).toEqual([]);
  });

  it.each([
    [20, 40, 50],
    [20, 41, null],
    [30, 20, 100],
    // All of them, and yet too few to say anything.
    [RETRY_RATE_MIN - 1, RETRY_RATE_MIN - 1, null],
  ])('takes %i retries of %i attempts as %j percent', (value, outOf, percent) => {
    const rule = 'retry-rate' as const;
    // Of two versions, or in two shards: what a share is made of is added up, never the shares.
    const parts = [
      finding({ rule, value, outOf: 1 }),
      finding({ rule, value: 0, outOf: outOf - 1 }),
    ];
    const [firing] = judge(parts, rules);
    expect(firing?.value ?? null).toBe(percent);
    if (firing) expect(firing.message).toContain(`${percent} % of the attempts of mail`);
  });

  it('has one alert for a job that no worker can run, however old it is', () => {
    const old = { value: 1_000, jobId: 'a' };
    const both = (jobId: string) =>
      judge(
        [finding({ rule: 'oldest-age', ...old }), finding({ rule: 'unserved', ...old, jobId })],
        new AlertRules([], {}),
      ).map(({ rule }) => rule);
    expect(both('a')).toEqual(['unserved']);
    expect(both('b')).toEqual(['oldest-age', 'unserved']);
  });

  it('names a schedule by its name, not by its id', () => {
    const missed = finding({
      rule: 'schedule-missed',
      scheduleId: '01a1',
      detail: 'nightly',
      value: 1,
    });
    const [firing] = judge([missed], new AlertRules([], {}));
    expect(firing?.message).toBe('the schedule “nightly” of mail missed 1 run within 1h');
  });

  it('says what is wrong in one sentence, under every rule', () => {
    for (const rule of ALERT_RULE_NAMES) {
      const scheduleId = rule === 'schedule-missed' ? 'nightly' : null;
      const value = ALERT_RULES[rule].threshold;
      const on = new AlertRules([], { [rule]: { enabled: true } });
      const [firing] = judge([finding({ rule, value, scheduleId })], on);
      expect(firing?.message).not.toMatch(/undefined|null/);
      const { unit } = ALERT_RULES[rule];
      const ms = { seconds: 1_000, milliseconds: 1 }[unit as string];
      expect(firing?.message).toContain(ms === undefined ? String(value) : duration(value * ms));
    }
  });
});

test('thousands of made-up names fire a bounded number of alerts, and the worst of them', () => {
  const rules = new AlertRules([], {});
  const many = Array.from({ length: 4_000 }, (_, n) =>
    finding({ rule: 'unserved', definitionKey: `made-up-${n}`, value: 100_000 + n }),
  );
  const real = finding({ rule: 'unserved', tenant: 'other', value: 100_000 });
  const firing = judge([...many, real], rules);
  const ofTenant = firing.filter(({ tenant }) => tenant === 'acme');
  expect([ofTenant.length, firing.length]).toEqual([FIRING_MAX, FIRING_MAX + 1]);
  expect(ofTenant[0]?.subject).toBe('made-up-3999');
  expect(ofTenant.at(-1)).toMatchObject({ subject: '', definitionKey: null });
  expect(ofTenant.at(-1)?.message).toMatch(/^unserved: 3951 more definitions/);
  expect(
    judge(many.toReversed(), rules)
      .map(({ subject }) => subject)
      .sort(),
  ).toEqual(ofTenant.map(({ subject }) => subject).sort());
});

describe('the configuration in one line', () => {
  test.each<[string, AlertDefaults]>([
    ['vacuum=off', { vacuum: { threshold: null, windowSeconds: null, enabled: false } }],
    [
      ' dead-letters=50/60 , unserved = 30',
      {
        'dead-letters': { threshold: 50, windowSeconds: 60, enabled: true },
        unserved: { threshold: 30, windowSeconds: null, enabled: true },
      },
    ],
    [
      'run-p95=90000000/86400',
      { 'run-p95': { threshold: 90_000_000, windowSeconds: 86_400, enabled: true } },
    ],
  ])('%s', (text, expected) => expect(parseAlertDefaults(text)).toEqual(expected));

  test.each([
    '',
    'vacuum',
    'vacuum=',
    'vacuum=0',
    'vacuum=-1',
    'vacuum=1.5',
    'vacum=1',
    'vacuum=1,vacuum=2',
    'vacuum=1/60',
    'dead-letters=off/60',
    'dead-letters=10001',
    'retry-rate=101',
    'oldest-age=2592001',
    'dead-letters=1/2592001',
    'run-p95=2592000001',
    'run-p95=1000/86401',
    'run-growth=10001',
    'dead-letter-size=1000001',
    'constructor=1',
  ])('refuses "%s"', (text) => expect(parseAlertDefaults(text)).toBeNull());
});

test('what only confirms an alert neither counts beside a new finding nor takes its place', () => {
  const rules = new AlertRules([], {});
  const held = (definitionKey: string, value = 900) =>
    finding({ rule: 'unserved', definitionKey, value, onlyConfirms: true });
  const both = [held('mail'), finding({ rule: 'unserved', value: 200 })];
  for (const found of [both, both.toReversed()]) {
    const [firing, ...more] = judge(found, rules);
    expect(firing).toMatchObject({ value: 200 });
    expect(firing).not.toHaveProperty('onlyConfirms');
    expect(more).toEqual([]);
  }
  const many = Array.from({ length: FIRING_MAX }, (_, n) => held(`held-${n}`));
  const found = judge([...many, finding({ rule: 'unserved', value: 200 })], rules);
  expect(found).toHaveLength(FIRING_MAX + 1);
  expect(found.filter(({ onlyConfirms }) => !onlyConfirms)).toMatchObject([{ subject: 'mail' }]);
});

import { describe, expect, it } from 'vitest';
import type {
  DeploymentView,
  ReleaseView,
} from '../../../../src/core/deployment/deployment-view.ts';
import {
  canBeCanary,
  canPromote,
  changeWords,
  deploymentStatusWords,
  isDeploymentOf,
  keyWords,
  latestRelease,
  retireWords,
  rollbackOf,
  rolledBackWords,
  shortRevision,
  versionWords,
} from './deployment-words.ts';

const deployment = (fields: Partial<DeploymentView> = {}): DeploymentView => ({
  number: 2,
  artifactId: 'a'.repeat(64),
  bytes: 1,
  status: 'old',
  definitions: ['mail', 'sync'],
  currentFor: [],
  canaryFor: [],
  canaryPercent: null,
  note: null,
  revision: null,
  createdBy: 'anonymous (no keys)',
  createdAt: '2026-11-16T10:00:00.000Z',
  retiredAt: null,
  ...fields,
});

const release = (key: string, fields: Partial<ReleaseView> = {}): ReleaseView => ({
  tenant: 'default',
  key,
  current: 2,
  previous: 1,
  canary: null,
  canaryPercent: null,
  changedBy: 'anonymous (no keys)',
  changedAt: '2026-11-16T10:00:00.000Z',
  reason: null,
  ...fields,
});

it('offers a canary only beside another deployment', () => {
  expect(canBeCanary(deployment({ number: 3 }), [release('mail')])).toBe(true);
  expect(canBeCanary(deployment({ number: 2 }), [release('mail')])).toBe(false);
  expect(canBeCanary(deployment({ number: 3 }), [release('other')])).toBe(false);
  expect(canBeCanary(deployment({ number: 3, status: 'retired' }), [release('mail')])).toBe(false);
});

it('warns of retiring what new jobs get', () => {
  expect(retireWords([])).not.toContain('New jobs');
  expect(retireWords(['mail'])).toContain('New jobs of mail get it now');
});

it('says the share of a canary', () => {
  expect(deploymentStatusWords({ status: 'canary', canaryPercent: 5 })).toBe('canary 5%');
  expect(deploymentStatusWords({ status: 'current', canaryPercent: null })).toBe('current');
});

it.each([
  ['0123456789abcdef0123', '0123456789ab'],
  ['0123456789abcdef0123-dirty', '0123456789ab-dirty'],
  ['v1.2', 'v1.2'],
  ['v1.2-dirty', 'v1.2-dirty'],
])('shortens the revision %s to %s', (revision, short) => {
  expect(shortRevision(revision)).toBe(short);
});

it('says what differs', () => {
  const fields = ['maxAttempts', 'params'];
  expect(changeWords({ key: 'x', change: 'changed', fields })).toBe(
    'other rules: maxAttempts, params',
  );
  expect(changeWords({ key: 'x', change: 'added', fields: [] })).toBe('new');
  expect(changeWords({ key: 'x', change: 'unchanged', fields: [] })).toBe('same rules');
  expect(changeWords({ key: 'x', change: 'removed', fields: [] })).toMatch(/^not in this/);
});

it('names a few definitions of many', () => {
  expect(keyWords(['a', 'b', 'c', 'd', 'e', 'f'])).toBe('a, b, c, d, e, f');
  expect(keyWords(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toBe('a, b, c, d, e and 2 more');
});

it('finds the latest release of a deployment, also as a canary', () => {
  const later = { changedAt: '2026-11-16T11:00:00.000Z' };
  const releases = [
    release('mail'),
    release('sync', { ...later, current: 1, canary: 2, canaryPercent: 5 }),
    release('other', { ...later, current: 3 }),
  ];
  expect(latestRelease(2, releases)?.key).toBe('sync');
  expect(latestRelease(4, releases)).toBeUndefined();
});

describe('a promotion', () => {
  it.each<[string, Partial<DeploymentView>, boolean]>([
    ['an old deployment', {}, true],
    ['one that is current for some definitions', { currentFor: ['mail'] }, true],
    ['one that is current for all', { currentFor: ['mail', 'sync'] }, false],
    ['a canary', { status: 'canary', canaryFor: ['mail', 'sync'] }, true],
    ['a retired one', { status: 'retired' }, false],
  ])('of %s', (_, fields, may) => {
    expect(canPromote(deployment(fields))).toBe(may);
  });
});

describe('a rollback', () => {
  it('says which deployment new jobs get', () => {
    const releases = [release('mail'), release('sync', { previous: null }), release('other')];
    expect(rollbackOf(deployment({ currentFor: ['mail', 'sync'] }), releases)).toEqual({
      definitions: ['mail', 'sync'],
      does: 'New jobs of mail get deployment 1.',
    });
  });

  it('ends a canary, also that of another deployment', () => {
    const releases = [release('mail', { canary: 3, canaryPercent: 5 })];
    const does = 'The canary of deployment 3 ends. Nothing else changes.';
    for (const one of [{ currentFor: ['mail'] }, { canaryFor: ['mail'] }]) {
      expect(rollbackOf(deployment(one), releases)).toEqual({ definitions: ['mail'], does });
    }
  });

  it('is not offered without an earlier deployment, nor for an old one', () => {
    const releases = [release('mail', { previous: null })];
    expect(rollbackOf(deployment({ currentFor: ['mail'] }), releases)).toBeNull();
    expect(rollbackOf(deployment(), releases)).toBeNull();
    expect(rollbackOf(deployment({ currentFor: ['mail'] }), [])).toBeNull();
  });

  it('names the deployments afterwards', () => {
    expect(rolledBackWords([{ number: 1 }, { number: 4 }])).toBe(
      'Rolled back: new jobs get deployment 1, 4.',
    );
  });
});

it('says when the version of a job is decided', () => {
  expect(versionWords({ definitionVersion: 3, status: 'queued' })).toBe('3');
  expect(versionWords({ definitionVersion: 0, status: 'scheduled' })).toBe(
    'decided when it is due',
  );
  expect(versionWords({ definitionVersion: 0, status: 'created' })).toBe(
    'decided when it is released',
  );
});

it('finds the deployment of a job, and no other one with its version', () => {
  const job = { definitionKey: 'mail', definitionVersion: 2 };
  expect(isDeploymentOf(deployment(), job)).toBe(true);
  expect(isDeploymentOf(deployment(), { ...job, definitionKey: '$hook:mail' })).toBe(true);
  expect(isDeploymentOf(deployment(), { ...job, definitionKey: 'hello' })).toBe(false);
  expect(isDeploymentOf(deployment({ number: 1 }), job)).toBe(false);
});

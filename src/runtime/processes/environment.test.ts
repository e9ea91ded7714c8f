import { expect, it } from 'vitest';
import { childEnvironment } from './environment.ts';

const OURS = {
  PATH: '/bin',
  HOME: '/home/me',
  DATABASE_URL: 'secret',
  LONGSHORE_API_KEY: 'secret',
  NODE_OPTIONS: '--inspect',
  AWS_KEY: 'a',
  AWS_REGION: 'b',
  AWS: 'c',
  TEAM: 'd',
};

it('gives a child what programs need, and nothing else', () => {
  expect(childEnvironment(null, OURS)).toEqual({ PATH: '/bin', HOME: '/home/me' });
});

it('gives it what was named, one by one or by how it begins', () => {
  expect(Object.keys(childEnvironment('TEAM', OURS))).toEqual(['PATH', 'HOME', 'TEAM']);
  expect(Object.keys(childEnvironment('AWS_*,TEAM', OURS))).toEqual([
    'PATH',
    'HOME',
    'AWS_KEY',
    'AWS_REGION',
    'TEAM',
  ]);
});
